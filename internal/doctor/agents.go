package doctor

import (
	"context"
	"strings"

	"github.com/prloop/prloop/internal/acp"
)

// agents looks at the ACP agents prloop has presets for: one line for each that is installed, with its
// version and whether it can be held to the gateway, and one for those that are not.
func agents(ctx context.Context) (all []Checkup) {
	installed, absent := acp.CheckInstalled(ctx)
	for _, c := range installed {
		row := Checkup{What: c.Preset.Name, Note: c.Note, State: Missing}
		if c.Usable {
			row.State = OK
		}
		if len(c.Missing) > 0 {
			row.Next = "install " + strings.Join(c.Missing, ", ")
		}
		all = append(all, row)
	}
	if len(absent) > 0 {
		all = append(all, Checkup{What: "agents", State: Optional, Note: "not installed: " + strings.Join(absent, ", ") + " (only \"use: acp\" needs one; docs/acp.md)"})
	}
	return all
}
