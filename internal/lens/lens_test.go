package lens

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

func TestFor(t *testing.T) {
	file := func(path, diff string) []review.BriefFile { return []review.BriefFile{{Path: path, Diff: diff}} }
	for _, c := range []struct {
		rule  string
		files []review.BriefFile
		want  string
	}{
		{"a path decides at once", file("internal/auth/check.go", ""), security},
		{"workflows run with rights", file(".github/workflows/ci.yml", ""), security},
		{"two added lines about secrets", file("a.go", "+password := x\n+exec(cmd)\n"), security},
		{"one line is not enough", file("a.go", "+password := x\n"), general},
		{"removed lines do not count", file("a.go", "-password := x\n-exec(cmd)\n"), general},
		{"an author is no authority", file("docs/author.md", ""), general},
		{"schemas are promises", file("api/v1.proto", ""), contracts},
		{"tests are promises", file("a_test.go", ""), contracts},
		{"speed", file("a.go", "+cache\n+batch\n+mutex\n"), performance},
		{"nothing special", file("a.go", "+x := 1\n"), general},
		{"an empty diff", nil, general},
	} {
		if got := For(c.files); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
	for _, l := range []string{security, contracts, performance, general} {
		if !slices.Contains(prompts.Lenses(), l) {
			t.Errorf("there is no lens %s", l)
		}
	}
}
