package acp

import (
	"context"
	"strings"
	"sync"
)

// Checkup is what a look at an installed agent found.
type Checkup struct {
	Preset Preset
	// Note says in words which version it is and what it can be used for.
	Note string
	// Missing are the programs it needs that are not there.
	Missing []string
	// Usable is false for one that cannot be used as it is.
	Usable bool
}

// Check looks at the agent: which version is installed, and whether it can be held to the gateway; ok is false when it is not
// installed.
func (p Preset) Check(ctx context.Context) (c Checkup, ok bool) {
	path, missing := p.Installed()
	if path == "" {
		return c, false
	}
	c = Checkup{Preset: p, Missing: missing, Usable: len(missing) == 0}
	version, err := p.Version(ctx, path)
	if err != nil {
		version, c.Usable = "version unknown ("+err.Error()+")", false
	}
	notes := []string{version + " at " + path}
	if err == nil && version != p.Tried() {
		notes = append(notes, "tested with "+p.Tried())
	}
	confinable, why := p.Confinable()
	switch {
	case !confinable:
		c.Usable = false
		notes = append(notes, "cannot be held to the gateway: "+why)
	case p.Fixes():
		notes = append(notes, "can be held to the gateway, as reviewer and fixer")
	default:
		notes = append(notes, "can be held to the gateway, as reviewer")
	}
	if len(missing) > 0 {
		notes = append(notes, "what it needs is missing: "+strings.Join(missing, ", "))
	}
	c.Note = strings.Join(notes, "; ")
	return c, true
}

// CheckInstalled looks at all agents there are presets for, at the same time, and names those that are not installed.
func CheckInstalled(ctx context.Context) (installed []Checkup, absent []string) {
	presets := Presets()
	found := make([]*Checkup, len(presets))
	var asked sync.WaitGroup
	for i, p := range presets {
		asked.Go(func() {
			if c, ok := p.Check(ctx); ok {
				found[i] = &c
			}
		})
	}
	asked.Wait()
	for i, p := range presets {
		if found[i] == nil {
			absent = append(absent, p.Name)
			continue
		}
		installed = append(installed, *found[i])
	}
	return installed, absent
}
