package app

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/globs"
)

// A reviewer may name any file. None of them ends the run of all.
func TestNamesThatNoTreeHolds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte("x = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "c"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	g, err := git.Find(t.Context(), git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "state", "mirror.git"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := repo.Local(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	h := &history{repo: repo}
	if text, err := h.ReadFile(t.Context(), l.Head, "a.py"); err != nil || string(text) != "x = 1\n" {
		t.Fatalf("%q %v", text, err)
	}
	for _, name := range []string{".git/config", ".git/[REDACTED]~1f3a", "a.py/[REDACTED]~1f3a", strings.Repeat("a/", 3000) + "[REDACTED]~1f3a", "a\x00/[REDACTED]~1f3a", "[REDACTED]~"} {
		if _, err := h.ReadFile(t.Context(), l.Head, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.60q: %v", name, err)
		}
	}
}

// A folder is written with a slash at its end by many: nothing in it is read.
func TestFoldersAreKeptFromAgents(t *testing.T) {
	var s config.Settings
	s.Context.Exclude, s.Context.NeverRead = []string{"legal/", "*.pem"}, []string{"/customer_data/"}
	got := contextOf(s)
	for _, name := range []string{"legal/terms.md", "legal/eu/terms.md", "key.pem", "customer_data/a.csv", "customer_data/eu/a.csv"} {
		if !globs.Any(got.Exclude, name) {
			t.Errorf("agents read %s: %q", name, got.Exclude)
		}
	}
	if globs.Any(got.Exclude, "main.go") {
		t.Errorf("%q", got.Exclude)
	}
}
