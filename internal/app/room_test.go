package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// fetchingBy has git fetch by a shell command.
func fetchingBy(t *testing.T, command string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	text := "#!/bin/sh\nif [ \"$1\" = fetch ]; then " + command + "; fi\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// A fetch leaves what the operator wants free twice, as a run that begins needs it (threats.md T715).
func TestFetchesLeaveWhatARunBeginsWith(t *testing.T) {
	fetchingBy(t, "exec sleep 60")
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
	other, h := &run{Service: s}, &history{}
	if err := other.openRepo(t.Context(), h, "github.com/acme/widgets.git"); err != nil {
		t.Fatal(err)
	}
	defer other.cleanup.run()
	pack, old, young := filepath.Join(h.repo.Dir(), "objects", "pack", "tmp_pack_1"), s.folder.Path("old"), s.folder.Path("young")
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

// stateOfRepos is a service with repositories of pull requests in its state folder, each larger than the one before.
func stateOfRepos(t *testing.T, limits agentrun.Limits, names ...string) *Service {
	t.Helper()
	s, err := Open(t.Context(), Options{State: t.TempDir(), Machine: Machine{Limits: limits}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	g, err := s.findGit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		repo, err := g.Open(t.Context(), filepath.Join(s.opts.State, reposName, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repo.Dir(), "objects", "pack", "x.pack"), make([]byte, 1000*i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// kept are the repositories that are there.
func kept(s *Service, names ...string) (out []string) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(s.opts.State, reposName, name)); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// What strangers' pull requests left in the repositories goes where a run has no room to begin, and nothing that is there alone does (threats.md T718).
func TestRepositoriesMakeRoom(t *testing.T) {
	if !filelock.Folders {
		t.Skip("what is in use cannot be told")
	}
	names := []string{"github.com/acme/idle.git", "github.com/acme/ended.git", "github.com/acme/used.git", "github.com/Acme/Unfinished.git", "ghe.example.com/acme/unfinished.git", "local/0123456789abcdef.git"}
	s := stateOfRepos(t, agentrun.Limits{FreeBytes: 1 << 60}, names...)
	for id, repo := range map[string]review.Repo{"ended": {Host: "github.com", Owner: "acme", Name: "ended"}, "cut": {Host: "github.com", Owner: "Acme", Name: "Unfinished"}} {
		if err := s.store.CreateRun(t.Context(), store.Run{ID: id, ReviewID: id, Target: review.Target{Repo: repo, PR: 7}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.store.FinishRun(t.Context(), review.RunResult{Run: "ended", Outcome: review.Converged}); err != nil {
		t.Fatal(err)
	}
	r := &run{Service: s}
	if err := r.openRepo(t.Context(), &history{}, names[2]); err != nil {
		t.Fatal(err)
	}
	low := (*agentrun.LowDiskError)(nil)
	if err := s.room(t.Context(), s.opts.State, ""); !errors.As(err, &low) {
		t.Errorf("with too little room: %v", err)
	}
	if got, want := kept(s, names...), []string{names[2], names[3], names[5]}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
	r.cleanup.run()
	if err := s.room(t.Context(), s.opts.State, ""); !errors.As(err, &low) || len(kept(s, names[2])) != 0 {
		t.Errorf("once nobody works with it: %v, kept %q", err, kept(s, names...))
	}
	if err := r.openRepo(t.Context(), &history{}, names[2]); err != nil { // the next run fetches anew
		t.Error(err)
	}
}

// Fetches leave what a run begins with, so the disk is seldom below that: where one finds too little, the largest repository goes once its run is left,
// be it its own (threats.md T718).
func TestAFetchWithoutRoomMakesSome(t *testing.T) {
	if !filelock.Folders {
		t.Skip("what is in use cannot be told")
	}
	fetchingBy(t, "echo 'fatal: write error: No space left on device' >&2; exit 128")
	names := []string{"github.com/acme/a.git", "github.com/acme/b.git", "github.com/acme/c.git"}
	for _, own := range []string{names[0], names[2]} {
		s := stateOfRepos(t, agentrun.Limits{FreeBytes: 1}, names...)
		r, h := &run{Service: s}, &history{}
		if err := r.openRepo(t.Context(), h, own); err != nil {
			t.Fatal(err)
		}
		h.from.URL = "https://example.com/x"
		if _, err := h.fetch(t.Context(), "refs/heads/main"); !errors.Is(err, git.ErrNoRoom) {
			t.Fatal(err)
		}
		if got := kept(s, names...); !slices.Equal(got, names) {
			t.Errorf("while the run of %s is at work %q are kept", own, got)
		}
		r.cleanup.run()
		if got := kept(s, names...); !slices.Equal(got, names[:2]) {
			t.Errorf("after the run of %s %q are kept, want the two that are small", own, got)
		}
	}
}
