package app

import (
	"errors"
	"testing"

	"github.com/prloop/prloop/internal/github"
)

// A host that is served is one that the operator named.
func TestANamedHostIsConnectedTo(t *testing.T) {
	env := []string{"HOME=" + t.TempDir(), "GH_ENTERPRISE_TOKEN=ghp_one"}
	s, err := Open(t.Context(), Options{State: t.TempDir(), GitHub: github.Options{Env: env, GH: "no-such-gh", ReadOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	s.Name("ghe.example.com")
	if _, err := s.GitHub(t.Context(), "ghe.example.com"); err != nil {
		t.Error(err)
	}
	if _, err := s.GitHub(t.Context(), "127.0.0.77"); !errors.Is(err, github.ErrNotLoggedIn) {
		t.Errorf("any other host: %v", err)
	}
}
