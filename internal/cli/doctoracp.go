package cli

import (
	"context"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/acp"
)

// checkAgents looks at the ACP agents prloop has presets for: one line for each that is installed, with its
// version and whether it can be held to the gateway, and one for those that are not.
func (p *Proc) checkAgents(ctx context.Context) []checkup {
	presets := acp.Presets()
	found := make([]*checkup, len(presets))
	var asked sync.WaitGroup
	for i, preset := range presets {
		asked.Go(func() { found[i] = checkAgent(ctx, preset) })
	}
	asked.Wait()
	var all []checkup
	var absent []string
	for i, preset := range presets {
		if found[i] == nil {
			absent = append(absent, preset.Name)
			continue
		}
		all = append(all, *found[i])
	}
	if len(absent) > 0 {
		all = append(all, checkup{what: "agents", state: stateMissing, note: "not installed: " + strings.Join(absent, ", ") + " (only \"use: acp\" needs one; docs/acp.md)"})
	}
	return all
}

// checkAgent looks at one agent; nil when it is not installed.
func checkAgent(ctx context.Context, preset acp.Preset) *checkup {
	path, missing := preset.Installed()
	if path == "" {
		return nil
	}
	c := &checkup{what: preset.Name, state: stateOK}
	version, err := preset.Version(ctx, path)
	if err != nil {
		version, c.state = "version unknown ("+err.Error()+")", stateMissing
	}
	notes := []string{version + " at " + path}
	if err == nil && version != preset.Tried() {
		notes = append(notes, "tried is "+preset.Tried())
	}
	ok, why := preset.Confinable()
	switch {
	case !ok:
		c.state = stateMissing
		notes = append(notes, "cannot be held to the gateway: "+why)
	case preset.Fixes():
		notes = append(notes, "can be held to the gateway, as reviewer and fixer")
	default:
		notes = append(notes, "can be held to the gateway, as reviewer")
	}
	if len(missing) > 0 {
		c.state, c.next = stateMissing, "install "+strings.Join(missing, ", ")
		notes = append(notes, "what it needs is missing: "+strings.Join(missing, ", "))
	}
	c.note = strings.Join(notes, "; ")
	return c
}
