package cli

import (
	"context"
	"strings"

	"github.com/prloop/prloop/internal/acp"
)

// checkAgents looks at the ACP agents prloop has presets for: one line for each that is installed, with its
// version and whether it can be held to the gateway, and one for those that are not.
func (p *Invocation) checkAgents(ctx context.Context) (all []checkup) {
	installed, absent := acp.CheckInstalled(ctx)
	for _, c := range installed {
		row := checkup{what: c.Preset.Name, note: c.Note, state: stateMissing}
		if c.Usable {
			row.state = stateOK
		}
		if len(c.Missing) > 0 {
			row.next = "install " + strings.Join(c.Missing, ", ")
		}
		all = append(all, row)
	}
	if len(absent) > 0 {
		all = append(all, checkup{what: "agents", state: stateMissing, note: "not installed: " + strings.Join(absent, ", ") + " (only \"use: acp\" needs one; docs/acp.md)"})
	}
	return all
}
