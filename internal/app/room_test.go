package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/git"
)

// A fetch leaves what the operator wants free twice, as a run that begins needs it (threats.md T715).
func TestFetchesLeaveWhatARunBeginsWith(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	text := "#!/bin/sh\nif [ \"$1\" = fetch ]; then exec sleep 60; fi\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	limits := agentrun.Limits{FreeBytes: 1 << 50}
	s, err := Open(t.Context(), Options{State: t.TempDir(), Machine: Machine{Limits: limits}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	g, err := s.findGit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(s.opts.State, reposName, "widgets.git"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Fetch(t.Context(), git.FetchOptions{URL: "https://example.com/x", Refs: []string{"refs/heads/main"}}); !errors.Is(err, git.ErrNoRoom) {
		t.Errorf("with as much free as there is: %v", err)
	}
}
