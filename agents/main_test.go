package agents

import (
	"os"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakeagent/modes"
	"github.com/prloop/prloop/review"
)

// TestMain lets the test binary play fakeagent: the children of these tests are real.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == modes.Name {
		os.Exit(modes.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fake is a reviewer in a mode of fakeagent.
func fake(t *testing.T, mode string, args ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Name: "rev-1", Role: review.RoleReviewer, Kind: "command", Path: self,
		Args: append([]string{modes.Name, "-mode", mode}, args...), Timeout: 20 * time.Second, Grace: 200 * time.Millisecond}
}

// script is a reviewer in POSIX shell.
func script(t *testing.T, body string) Spec {
	t.Helper()
	file := t.TempDir() + "/reviewer.sh"
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return Spec{Name: "sh-1", Role: review.RoleReviewer, Kind: "command", Path: file, Timeout: 20 * time.Second,
		Grace: 200 * time.Millisecond, Env: []string{"PATH=/usr/bin:/bin"}}
}

func task() review.Task {
	t := sampleTask(Spec{Name: "rev-1", Role: review.RoleReviewer})
	t.Run = "test"
	return t
}
