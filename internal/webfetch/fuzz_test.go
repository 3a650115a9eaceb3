package webfetch

import (
	"strings"
	"testing"
)

// FuzzCheck holds the law of addresses: what passes is https to a listed host by its plain name, and passes unchanged again.
func FuzzCheck(f *testing.F) {
	for _, u := range []string{"https://docs.example.com/a?b=c#d", "https://x@docs.example.com/", "https://[::1]/", "https://docs.example.com:443", "https://a.example.org/%2e%2e/"} {
		f.Add(u)
	}
	fetcher := New([]string{"docs.example.com", "*.example.org"})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := fetcher.check(raw)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Port() != "" || u.Host != "docs.example.com" && !strings.HasSuffix(u.Host, ".example.org") {
			t.Errorf("%q passes as %q", raw, u)
		}
		again, err := fetcher.check(u.String())
		if len(u.String()) <= urlLimit && (err != nil || again.String() != u.String()) {
			t.Errorf("%q passes as %q, then as %v: %v", raw, u, again, err)
		}
	})
}
