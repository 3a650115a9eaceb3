// Package forgetest starts forges in tests: with the contract checked, and a test that leaves a violation behind fails.
package forgetest

import (
	"os"
	"testing"

	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/contract"
	"github.com/prloop/prloop/internal/testkit/forge/ghbin"
)

// Start serves a forge until the test ends.
func Start(t testing.TB) *forge.Forge {
	t.Helper()
	checker, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	f, err := forge.Start(forge.Options{Contract: checker})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range f.Violations() {
			t.Errorf("a request or answer broke GitHub's published contract: %s", v)
		}
		if err := f.Close(); err != nil {
			t.Errorf("close the forge: %v", err)
		}
	})
	return f
}

// GH is the pinned gh. A test that needs it fails without it; it is never skipped.
func GH(t testing.TB) string {
	t.Helper()
	gh, err := ghbin.Path(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return gh
}

// Open opens a pull request, failing the test if that does not work.
func Open(t testing.TB, f *forge.Forge, s forge.PullSpec) *forge.PullRequest {
	t.Helper()
	p, err := f.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
