package globs_test

import (
	"testing"

	"github.com/prloop/prloop/internal/globs"
)

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		include, exclude, path string
		want                   bool
	}{
		{"", "", "a/b.md", true},
		{"**/*.md", "", "README.md", true},
		{"**/*.md", "", "a.go", false},
		{"docs/**", "docs/old/**", "docs/old/x", false},
		{"", "docs/**", "docs/x", false},
	} {
		g := globs.Globs{}
		if c.include != "" {
			g.Include = []string{c.include}
		}
		if c.exclude != "" {
			g.Exclude = []string{c.exclude}
		}
		if got := g.Match(c.path); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
