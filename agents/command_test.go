package agents

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// TestCommand: what a command says is kept as a reviewer's is, and nothing but a whole answer of an agent that ended well is complete.
func TestCommand(t *testing.T) {
	t.Parallel()
	answer := func(findings string) string {
		return `{"summary":"s","findings":[` + findings + `],"notes":[],"confidence":"low"}`
	}
	const one = `{"title":"A","severity":"high","details":"d","location":"rows.go:12"}`
	for name, row := range map[string]struct {
		body     string
		state    review.AgentState
		findings int
	}{
		"whole":               {"echo '" + answer(one) + "'", review.AgentComplete, 1},
		"nothing to say":      {"echo '" + answer("") + "'", review.AgentComplete, 0},
		"whole, then a crash": {"echo '" + answer(one) + "'; exit 3", review.AgentDegraded, 1},
		"cut":                 {"echo '" + answer(one)[:90] + "'", review.AgentDegraded, 1},
		"silent":              {"true", review.AgentFailed, 0},
		"one of two broken":   {"echo '" + answer(one+`,{"title":"B","severity":"low"}`) + "'", review.AgentDegraded, 2}, // and a place for what could not be read
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := script(t, "cat >/dev/null\n"+row.body+"\n")
			spec.Role = review.RoleCommand
			a := Ask(t.Context(), spec, sampleTask(spec), nil)
			n := 0
			if a.Command != nil {
				n = len(a.Command.Findings)
			}
			if a.Receipt.State != row.state || n != row.findings || a.Receipt.Findings != n || a.Reviewer != nil {
				t.Errorf("%s (%s) with %d findings, want %s with %d: %+v", a.Receipt.State, a.Receipt.Reason, n, row.state, row.findings, a.Command)
			}
		})
	}
}
