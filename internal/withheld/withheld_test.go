package withheld_test

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/withheld"
)

func TestHas(t *testing.T) {
	p := withheld.Paths{"customer_data/*", "*.pem", "**/private", "a/{b,c}/d.txt"}
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
	if withheld.Paths(nil).Has("a") {
		t.Error("nothing withholds something")
	}
}
