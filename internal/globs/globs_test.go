package globs_test

import (
	"strings"
	"testing"
	"time"

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

func TestCheck(t *testing.T) {
	many := "has braces that may stand for more than 64 globs; write several globs instead"
	for pattern, want := range map[string]string{
		"docs/**": "",
		"{packages,apps}/*/{src,lib}/**/*.{js,jsx,ts,tsx}":  "",
		"**/*.{" + strings.Repeat("a,", 63) + "a}":          "",
		"**/*.{" + strings.Repeat("a,", 64) + "a}":          many,
		strings.Repeat("{a,b}", 6):                          "",
		strings.Repeat("{a,b}", 7):                          many,
		strings.Repeat("{*,*}", 30):                         many,
		strings.Repeat("{a,", 63) + strings.Repeat("}", 63): many, // nested ones stand for fewer, which is not counted
		"[/../" + strings.Repeat("{a,b}", 30) + "]":         many, // without its first names it is no class of characters
		"a,b,c{d}e": "",
		"[a":        "is not a valid glob",
	} {
		got := ""
		if err := globs.Check(pattern); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s %q, want %q", pattern, got, want)
		}
	}
}

// The longest patterns that pass are held against the longest paths in a time that grows with their lengths alone.
func TestWhatPassesIsQuick(t *testing.T) {
	path := strings.Repeat(strings.Repeat("a", 255)+"/", 16)
	for _, tail := range []string{"*a", "a", "*a/", "[b-z]*", "**/"} {
		for _, head := range []string{"", "*", "**/*"} {
			pattern := head + strings.Repeat("{a,a}", 6)
			pattern += strings.Repeat(tail, (499-len(pattern))/len(tail)) + "b"
			if err := globs.Check(pattern); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if globs.Any([]string{pattern}, path) {
				t.Errorf("%s matches", pattern)
			}
			if took := time.Since(began); took > 20*time.Second { // under a second on a machine that does nothing else
				t.Errorf("%s took %s", pattern, took)
			}
		}
	}
}
