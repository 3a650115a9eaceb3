package fixspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/internal/testkit/gittest"
)

// TestMain lets the test binary play the fixer. It is the sandbox's trampoline and proc's leash as well, by their inits.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == modes.Name {
		os.Exit(modes.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// thisMachine is looked at once.
var thisMachine = new(sandbox.Machine)

// world is a repository of prloop's own and a workspace over it.
type world struct {
	*testing.T
	workspace *Workspace
	// origin is where the repository was fetched from, base its first commit.
	origin, base string
}

// newWorld makes a workspace in the real sandbox, over a repository with one commit.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	// Without a network namespace nothing here would be what it is for a user.
	if r := thisMachine.Probe(t.Context()); r.Tier > sandbox.Tier1b {
		t.Skip("this machine cannot contain a child: " + r.String())
	}
	w := &world{T: t, origin: t.TempDir()}
	w.git(w.origin, "init", "-q", "-b", "main")
	w.base = w.commit(files)
	g, err := git.Find(t.Context(), git.Options{Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "state", "repo.git"))
	if err != nil {
		t.Fatal(err)
	}
	w.workspace = &Workspace{Repo: repo, Scratch: t.TempDir(), Confine: thisMachine.Wrap}
	w.fetch()
	return w
}

// in is the same world for a subtest, with a workspace of its own over the same repository and scratch folder.
func (w *world) in(t *testing.T) *world {
	workspace := *w.workspace
	return &world{T: t, workspace: &workspace, origin: w.origin, base: w.base}
}

func (w *world) git(dir string, args ...string) string {
	w.Helper()
	return gittest.Run(w, dir, args...)
}

// commit adds files to the origin.
func (w *world) commit(files map[string]string) string {
	w.Helper()
	return gittest.Commit(w, w.origin, files)
}

func (w *world) fetch() {
	w.Helper()
	if _, err := w.workspace.Repo.Fetch(w.Context(), git.FetchOptions{URL: "file://" + w.origin, Refs: []string{"refs/heads/main"}}); err != nil {
		w.Fatal(err)
	}
}

// left fails the test when a call left something in the scratch folder, or a process that knows word.
func (w *world) left(word string) {
	w.Helper()
	entries, err := os.ReadDir(w.workspace.Scratch)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		w.Errorf("%s was left in the scratch folder", e.Name())
	}
	if word == "" {
		return
	}
	for _, line := range knowing(word) {
		w.Errorf("a process was left: %q", line)
	}
}

// knowing are the command lines of the processes, other than this one, whose arguments contain word.
func knowing(word string) []string {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var lines []string
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), word) && !strings.Contains(name, fmt.Sprint("/", os.Getpid(), "/")) {
			lines = append(lines, string(text))
		}
	}
	return lines
}

// unconfined is what an operator who switched the sandbox off says.
func unconfined(_ sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error) { return cmd, nil }
