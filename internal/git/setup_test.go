package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/prloop/prloop/internal/testkit/gittest"
)

// The names this package's tests use.
var (
	shell  = gittest.Run
	write  = gittest.Write
	commit = gittest.Commit
)

// origin makes a repository with a first commit on main.
func origin(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, files)
	return dir
}

func find(t testing.TB) *Git {
	t.Helper()
	g, err := Find(context.Background(), Options{Protocols: []string{"file"}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func open(t testing.TB, g *Git) *Repository {
	t.Helper()
	r, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "state", "mirror.git"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// borrow has a repository read the objects of a checkout, as Local does.
func borrow(t testing.TB, r *Repository, checkout string) {
	t.Helper()
	c, err := r.git.Checkout(checkout)
	if err == nil {
		err = r.borrow(c.objects())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fetch(t testing.TB, r *Repository, from string, refs ...string) map[string]string {
	t.Helper()
	got, err := r.Fetch(t.Context(), FetchOptions{URL: "file://" + from, Refs: refs})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// trap is a program that leaves a marker when anything runs it.
func trap(t testing.TB) (program string, sprung func() bool) {
	t.Helper()
	dir := t.TempDir()
	program, marker := filepath.Join(dir, "trap"), filepath.Join(dir, "marker")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+marker+"\ncat 2>/dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, func() bool {
		return os.Remove(marker) == nil
	}
}

// poison gives a repository every setting that makes git run something.
func poison(t testing.TB, repo, program string) {
	t.Helper()
	for _, s := range [][2]string{{"core.fsmonitor", program}, {"core.sshCommand", program}, {"core.pager", program}, {"core.editor", program},
		{"core.gitProxy", program}, {"core.askPass", program}, {"core.alternateRefsCommand", program}, {"credential.helper", program},
		{"diff.external", program}, {"diff.bad.textconv", program}, {"diff.bad.command", program},
		{"filter.bad.clean", program}, {"filter.bad.smudge", program}, {"filter.bad.process", program}, {"filter.bad.required", "true"},
		{"uploadpack.packObjectsHook", program}, {"remote.origin.uploadpack", program}} {
		shell(t, repo, "config", s[0], s[1])
	}
	hooks, err := filepath.Abs(filepath.Join(repo, ".git", "hooks"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"post-index-change", "reference-transaction", "pre-commit", "post-commit", "post-checkout", "fsmonitor-watchman", "pre-auto-gc"} {
		os.MkdirAll(hooks, 0o755)
		if err := os.WriteFile(filepath.Join(hooks, h), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// shellFails is shell for a command that may fail.
func shellFails(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	return string(out)
}
