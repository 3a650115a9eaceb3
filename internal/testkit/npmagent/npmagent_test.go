package npmagent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// npmIn puts a program of that name and text into PATH.
func npmIn(t *testing.T, text string) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the programs of the agents are those of linux on amd64")
	}
	dir := t.TempDir()
	if text != "" {
		if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	if text == "" {
		t.Setenv("PATH", dir)
	}
}

var sample = Agent{Name: "sample", Version: "1", Packages: []string{"sample@1.0.0"}, Program: "sample/run"}

func TestInstallOnce(t *testing.T) {
	dir := t.TempDir()
	npmIn(t, `echo x >>"`+dir+`/calls"; while [ "$1" != --prefix ]; do shift; done; mkdir -p "$2/node_modules/sample" && echo "$3" >"$2/node_modules/sample/run"`)
	failed := make(chan error, 4)
	for range cap(failed) {
		go func() {
			_, err := Install(context.Background(), sample, dir)
			failed <- err
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if calls, _ := os.ReadFile(filepath.Join(dir, "calls")); string(calls) != "x\n" {
		t.Errorf("npm was called %d times", len(calls)/2)
	}
	text, err := os.ReadFile(filepath.Join(dir, "sample-1", "node_modules", "sample", "run"))
	if err != nil || string(text) != "sample@1.0.0\n" {
		t.Errorf("%q %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
		t.Errorf("left behind %q", left)
	}
}

func TestWhatCannotBeInstalledIsToldFromWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		name, npm   string
		unavailable bool
		says        string
	}{
		{"no npm", "", true, "npm"},
		{"no network", "echo 'npm error code ENOTFOUND' >&2; exit 1", true, "ENOTFOUND"},
		{"a version that does not exist is a fault", "echo 'npm error code ETARGET' >&2; exit 1", false, "ETARGET"},
		{"a package without its program is a fault", "exit 0", false, "is not there"},
	} {
		t.Run(row.name, func(t *testing.T) {
			npmIn(t, row.npm)
			dir := t.TempDir()
			_, err := Install(t.Context(), sample, dir)
			if err == nil || errors.Is(err, ErrUnavailable) != row.unavailable || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "sample-1")); err == nil {
				t.Error("a folder of the agent's name is taken for the agent")
			}
		})
	}
}
