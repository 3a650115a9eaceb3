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
		"run --base main --json outcom":       "run --base main --json=outcom",
		"run 7 --json Findigs,else":           "run 7 --json=Findigs,else",
		"run --json 123":                      "run --json 123",
		"run --json fix-login":                "run --json fix-login",
		"run --json --reviewers static":       "run --json --reviewers static",
		"show --json fate":                    "show --json fate",
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

// What cannot be formatted by is refused before a run, which may be dear, has ended.
func TestCheckFormat(t *testing.T) {
	for _, c := range []struct{ filter, format, want string }{
		{"", "", ""}, {".[] | .x", "", ""}, {`error("x")`, "", ""}, {"", "{{.outcome}}", ""},
		{".nope.[", "", "jq expression: "}, {"nope(1)", "", "jq expression: "}, {"", "{{.outcome", "template: "},
	} {
		if err := CheckFormat(c.filter, c.format); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q, %q: %v", c.filter, c.format, err)
		}
	}
}
