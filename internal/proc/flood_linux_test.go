package proc

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// Ten gigabytes on two streams, from a child that ignores TERM and is given all the time it wants: what is past the limit
// is read and thrown away, and costs no memory (threats.md P9, T84).
func TestTenGigabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves 10 GB through pipes; run it without -short")
	}
	const each = 5 << 30
	const script = `trap '' TERM; head -c 5368709120 /dev/zero >&2 & head -c 5368709120 /dev/zero; wait`
	before := resetPeak(t)
	res, err := Run(t.Context(), Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Grace: 10 * time.Minute})
	grown := held(t, "VmHWM:") - before
	var exit *ExitError
	if !errors.As(err, &exit) || res.Reason != ReasonOutputLimit {
		t.Fatalf("it ended as %q: %v", res.Reason, err)
	}
	t.Logf("%d and %d bytes in %v, %+d MB", res.StdoutBytes, res.StderrBytes, res.Took.Round(time.Millisecond), grown>>20)
	if res.StdoutBytes != each || res.StderrBytes != each {
		t.Errorf("%d and %d bytes were read, want %d of each", res.StdoutBytes, res.StderrBytes, each)
	}
	if grown > 32<<20 {
		t.Errorf("the parent grew by %d MB", grown>>20)
	}
	if len(res.Stdout) > DefaultMaxStream || len(res.StderrTail) > DefaultKeepTail {
		t.Errorf("%d bytes of the one and %d of the other are kept", len(res.Stdout), len(res.StderrTail))
	}
}

// resetPeak forgets the most memory this process held so far, and returns what it holds now.
func resetPeak(t *testing.T) int64 {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	return held(t, "VmRSS:")
}

func held(t *testing.T, name string) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			var n int64
			for _, c := range strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")) {
				n = n*10 + int64(c-'0')
			}
			return n << 10
		}
	}
	t.Fatalf("/proc/self/status has no %s", name)
	return 0
}
