// Package gittest makes the repositories of tests with the real git, away from this machine's own settings.
package gittest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/proc"
)

// Run runs git as a person would, with one name and one date, and returns what it printed.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	res, err := proc.Run(context.WithoutCancel(t.Context()), proc.Spec{
		Path: "git", Args: args, Dir: dir, Timeout: 2 * time.Minute, MaxStdout: 64 << 20, Direct: true,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
			"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"},
	})
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, res.StderrTail)
	}
	return strings.TrimSpace(string(res.Stdout))
}

// Write writes a file below a folder.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Commit writes files, commits all there is, and returns the commit.
func Commit(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		Write(t, dir, name, text)
	}
	Run(t, dir, "add", "-A")
	Run(t, dir, "commit", "-q", "--allow-empty", "-m", "c")
	return Run(t, dir, "rev-parse", "HEAD")
}
