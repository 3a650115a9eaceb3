package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs the real git as a person would, away from this machine's own settings.
func shell(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// origin makes a repository with a first commit on main.
func origin(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, files)
	return dir
}

func commit(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		write(t, dir, name, text)
	}
	shell(t, dir, "add", "-A")
	shell(t, dir, "commit", "-q", "--allow-empty", "-m", "c")
	return shell(t, dir, "rev-parse", "HEAD")
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
