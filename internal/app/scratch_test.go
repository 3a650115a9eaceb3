package app

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// A child may shut its own folders; they go all the same.
func TestRemoveTree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(filepath.Join(dir, "shut", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shut/in", "shut", "."} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := sandbox.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// The fixes of runs that are over are let go of when a repository is opened: finished ones, those nobody knows here any more,
// and after a month all but those of the run at hand.
func TestForgottenFixes(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	for _, run := range []string{"finished", "killed", "killed-too"} {
		if err := s.store.CreateRun(t.Context(), store.Run{ID: run}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.store.FinishRun(t.Context(), review.RunResult{Run: "finished", Outcome: review.Converged}); err != nil {
		t.Fatal(err)
	}
	g, err := git.Find(t.Context(), git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(s.opts.State, reposName, "widgets.git"))
	if err != nil {
		t.Fatal(err)
	}
	plumb := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir", repo.Dir()}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	blob := plumb("x", "hash-object", "-w", "--stdin")
	for _, run := range []string{"finished", "killed", "killed-", "killed-too", "unknown"} { // the third is the beginning of one, and none itself
		plumb("", "update-ref", git.FixRef(run, 1), blob)
	}
	for _, row := range []struct {
		mine string
		now  time.Time
		want []string
	}{
		{"", time.Now(), []string{"killed-too", "killed"}},
		{"killed-too", time.Now().Add(fixesKept + time.Hour), []string{"killed-too"}},
		{"", time.Now().Add(fixesKept + time.Hour), nil},
	} {
		s.forgetFixes(t.Context(), repo, row.mine, row.now)
		var want []string
		for _, run := range row.want {
			want = append(want, git.FixRef(run, 1))
		}
		if got := strings.Fields(plumb("", "for-each-ref", "--format=%(refname)")); !slices.Equal(got, want) {
			t.Errorf("for %q: kept are %q, want %q", row.mine, got, want)
		}
	}
}
