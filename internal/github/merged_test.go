package github

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
)

// Who merged a commit is told of the merge itself, into this branch, by a person; of nothing else.
func TestMergedBy(t *testing.T) {
	f, _, _ := open(t)
	c := client(t, f, Options{})
	next := func(number int, base, by string, squash bool) *forge.PullRequest {
		p := forgetest.Open(t, f, forge.PullSpec{Owner: "acme", Repo: "widgets", Number: number, Author: "contributor", BaseRef: base, HeadRef: base + "-topic",
			Base: tree("package main\n"), Head: tree("package main\n// " + base + "\n")})
		if by != "" {
			if err := p.Merge(by, squash); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	merged, squashed, dev, app, open := next(8, "one", "boss", false), next(9, "two", "boss", true), next(10, "dev", "boss", false), next(11, "three", "robot[bot]", false), next(12, "four", "", false)
	for _, row := range []struct {
		name, branch, commit, want string
	}{
		{"a merge", "one", merged.BaseSHA(), "boss"},
		{"a squash", "two", squashed.BaseSHA(), "boss"},
		{"the commit that was merged", "one", merged.HeadSHA(), ""},
		{"a merge into another branch", "one", dev.BaseSHA(), ""},
		{"an app", "three", app.BaseSHA(), ""},
		{"a commit of an open pull request", "four", open.HeadSHA(), ""},
		{"a commit that was pushed", "four", open.BaseSHA(), ""},
		{"a commit that is not there", "one", strings.Repeat("1", 40), ""},
	} {
		p, ok, err := c.MergedBy(t.Context(), widgets, row.branch, row.commit)
		if err != nil || p.Login != row.want || ok != (row.want != "") {
			t.Errorf("%s: %q %v %v, want %q", row.name, p.Login, ok, err, row.want)
		}
	}
}
