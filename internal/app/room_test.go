package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

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

// Where there is too little room to begin, what may go is gone before that is said, and nothing else is (threats.md T717).
func TestRoomIsMadeBeforeARunIsRefused(t *testing.T) {
	s, err := Open(t.Context(), Options{State: t.TempDir(), Machine: Machine{Limits: agentrun.Limits{FreeBytes: 1 << 60}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	g, err := s.findGit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(s.opts.State, reposName, "github.com", "acme", "widgets.git"))
	if err != nil {
		t.Fatal(err)
	}
	pack, old, young := filepath.Join(repo.Dir(), "objects", "pack", "tmp_pack_1"), s.folder.Path("old"), s.folder.Path("young")
	dead := filepath.Join(s.opts.State, scratchName, "run-dead")
	then := time.Now().Add(-ArtifactsKept - time.Hour)
	err = errors.Join(os.WriteFile(pack, []byte("PACK"), 0o600), os.MkdirAll(dead, 0o700), os.MkdirAll(old, 0o700), os.MkdirAll(young, 0o700), os.Chtimes(old, then, then))
	if err != nil {
		t.Fatal(err)
	}
	low := (*agentrun.LowDiskError)(nil)
	if err := s.room(t.Context(), s.opts.State, "mine"); !errors.As(err, &low) {
		t.Errorf("with too little room: %v", err)
	}
	for name, want := range map[string]bool{pack: false, dead: false, old: false, young: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
