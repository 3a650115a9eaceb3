package progress

import (
	"slices"
	"strings"
	"testing"
)

// Fields after --json are joined to it, misspelt ones beside others too.
func TestJoinFields(t *testing.T) {
	for args, want := range map[string]string{
		"run 7 --json outcome,issues --jq .x": "run 7 --json=outcome,issues --jq .x",
		"show --json latest":                  "show --json latest",
		"show latest --json":                  "show latest --json",
		"show --json run":                     "show --json=run",
		"resume X --json outcome,nothing":     "resume X --json=outcome,nothing",
		"run --json nothing,else":             "run --json nothing,else",
		"runs --json run":                     "runs --json run",
		"run -- --json run":                   "run -- --json run",
		"":                                    "",
	} {
		if got := strings.Join(JoinFields(strings.Fields(args)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", args, got, want)
		}
	}
	if known := ResultFields(); !slices.Contains(known, "outcome") || slices.Contains(known, "") {
		t.Error(known)
	}
}
