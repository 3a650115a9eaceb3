package neverread_test

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/neverread"
)

func TestHas(t *testing.T) {
	p := neverread.Paths{"customer_data/*", "*.pem", "**/private", "a/{b,c}/d.txt"}
	for name, want := range map[string]bool{
		"customer_data/x.csv": true, "customer_data/eu/2026/x.csv": true, "customer_data": false, "my/customer_data/x.csv": false,
		"key.pem": true, "sub/key.pem": false, "key.pem/inner": true,
		"private": true, "x/private/y": true, "x/privateer": false, "a/c/d.txt": true, "a/e/d.txt": false, "": false, "README.md": false,
	} {
		if got := p.Has(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
		// Who matches whole paths alone comes to the same.
		whole := false
		for _, g := range p.Globs() {
			whole = whole || doublestar.MatchUnvalidated(g, name)
		}
		if whole != want {
			t.Errorf("%q by Globs: %v", name, whole)
		}
	}
	if neverread.Paths(nil).Has("a") {
		t.Error("nothing withholds something")
	}
}

// However a person writes a folder, it is withheld: a pattern that matches nothing would withhold nothing, and nobody would be told.
func TestFoldersAsPeopleWriteThem(t *testing.T) {
	for _, pattern := range []string{
		"customer_data", "customer_data/", "/customer_data", "/customer_data/", "./customer_data/", "customer_data//", "customer_data//*", "customer_data/./*", "customer_data/**/",
		"x/../customer_data/*", "**/customer_data/", "customer_*/", "/customer_data/**", "{customer_data,other}/",
	} {
		p := neverread.Paths{pattern}
		for _, name := range []string{"customer_data/a.csv", "customer_data/eu/2026/a.csv", "customer_data/\xff.csv", "customer_data/a\nb", `customer_data/\\x`} {
			if !p.Has(name) {
				t.Errorf("%q does not withhold %q", pattern, name)
			}
			if whole := p.Globs(); !doublestar.MatchUnvalidated(whole[0], name) && !doublestar.MatchUnvalidated(whole[1], name) {
				t.Errorf("%q does not match %q, as %q", pattern, name, whole)
			}
		}
		if p.Has("README.md") || p.Has("src/main.go") {
			t.Errorf("%q withholds what it does not name", pattern)
		}
	}
}
