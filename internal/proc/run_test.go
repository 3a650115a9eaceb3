//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// want is what a run has to end with.
type want struct {
	reason  Reason
	code    int
	signal  string
	stdout  string
	atMost  time.Duration
	atLeast time.Duration
}

func TestHowChildrenEnd(t *testing.T) {
	t.Parallel()
	with := func(mode string, change func(*Spec), args ...string) Spec {
		s := self(t, mode, args...)
		if change != nil {
			change(&s)
		}
		return s
	}
	for name, row := range map[string]struct {
		spec Spec
		want want
	}{
		"a child that ends well is no error":                   {with("exit", nil, "0"), want{}},
		"the exit status is reported":                          {with("exit", nil, "7"), want{code: 7}},
		"a signal is reported by name":                         {with("self-kill", nil), want{code: -1, signal: "killed"}},
		"stdin is given, then end of file":                     {with("cat", func(s *Spec) { s.Stdin = []byte("in") }), want{stdout: "in"}},
		"stdin may be a stream":                                {with("cat", func(s *Spec) { s.StdinFrom = strings.NewReader("in") }), want{stdout: "in"}},
		"a silent hang ends at the wall time (threats.md T80)": {with("hang", func(s *Spec) { s.Timeout = 200 * time.Millisecond }), want{reason: ReasonTimeout, code: -1, signal: "terminated", atMost: 3 * time.Second}},
		"a silent hang ends at the idle time (threats.md T80)": {with("hang", func(s *Spec) { s.Idle = 200 * time.Millisecond }), want{reason: ReasonIdle, code: -1, signal: "terminated", atMost: 3 * time.Second}},
		"a model that is heard is not silence": {with("hang", func(s *Spec) {
			s.Idle, s.Timeout, s.Quiet = 100*time.Millisecond, 1500*time.Millisecond, func() time.Duration { return 0 }
		}), want{reason: ReasonTimeout, code: -1, signal: "terminated", atLeast: 1400 * time.Millisecond, atMost: 5 * time.Second}},
		"a model that was heard long ago is":                    {with("hang", func(s *Spec) { s.Idle, s.Quiet = 200*time.Millisecond, func() time.Duration { return time.Hour } }), want{reason: ReasonIdle, code: -1, signal: "terminated", atMost: 3 * time.Second}},
		"a hang in mid-answer keeps the part (threats.md T80)":  {with("hang-partial", func(s *Spec) { s.Idle = 500 * time.Millisecond }), want{reason: ReasonIdle, code: -1, signal: "terminated", stdout: "half a line", atMost: 4 * time.Second}},
		"no first byte in time (threats.md T80)":                {with("hang", func(s *Spec) { s.FirstByte = 200 * time.Millisecond }), want{reason: ReasonFirstByte, code: -1, signal: "terminated", atMost: 3 * time.Second}},
		"a slow drip beats idle, not the wall (threats.md T80)": {with("drip", func(s *Spec) { s.Idle, s.Timeout = time.Second, 2*time.Second }), want{reason: ReasonTimeout, code: -1, signal: "terminated", stdout: "*", atLeast: 1900 * time.Millisecond, atMost: 5 * time.Second}},
		"TERM ignored: KILL after the grace (threats.md T81)":   {with("ignore-term", func(s *Spec) { s.Timeout = time.Second }), want{reason: ReasonTimeout, code: -1, signal: "killed", stdout: "ready\n", atLeast: time.Second, atMost: 4 * time.Second}},
		"output closed, process running on: linger":             {with("close-stdout", func(s *Spec) { s.Linger = 200 * time.Millisecond }), want{reason: ReasonLinger, code: -1, signal: "terminated", stdout: "answer\n", atMost: 3 * time.Second}},
		"one byte past MaxStdout is the output limit":           {with("cat", func(s *Spec) { s.Stdin, s.MaxStdout = []byte("12345"), 4 }), want{reason: ReasonOutputLimit, stdout: "1234", code: 99}},
		"exactly MaxStdout is allowed":                          {with("cat", func(s *Spec) { s.Stdin, s.MaxStdout = []byte("1234"), 4 }), want{stdout: "1234"}},
		"a giant line is the line limit (threats.md T84)":       {with("giant-line", func(s *Spec) { s.OnLine = func([]byte) {} }), want{reason: ReasonLineLimit, code: 99}},
		"a receiver that fails ends the child":                  {with("cat", func(s *Spec) { s.Stdin, s.Stdout = []byte("x"), brokenWriter{} }), want{reason: ReasonReceiver, code: 99}},
		"a receiver that panics ends the child, not us":         {with("cat", func(s *Spec) { s.Stdin, s.OnLine = []byte("x\n"), func([]byte) { panic("odd") } }), want{reason: ReasonReceiver, code: 99}},
		"a direct child is supervised in the same manner":       {with("ignore-term", func(s *Spec) { s.Direct, s.Timeout = true, time.Second }), want{reason: ReasonTimeout, code: -1, signal: "killed", stdout: "ready\n", atMost: 4 * time.Second}},
		"a direct child's exit status is reported":              {with("exit", func(s *Spec) { s.Direct = true }, "9"), want{code: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := Run(t.Context(), row.spec)
			check(t, res, err, row.want)
		})
	}
}

func check(t *testing.T, res Result, err error, w want) {
	t.Helper()
	if res.Reason != w.reason || (w.code != 99 && (res.ExitCode != w.code || res.Signal != w.signal)) {
		t.Errorf("reason %q, exit %d, signal %q; want %q, %d, %q (error: %v, stderr: %s)",
			res.Reason, res.ExitCode, res.Signal, w.reason, w.code, w.signal, err, res.StderrTail)
	}
	var exit *ExitError
	if failed := w.reason != "" || w.code != 0; failed != errors.As(err, &exit) {
		t.Errorf("error: %v", err)
	}
	if w.stdout != "*" && string(res.Stdout) != w.stdout {
		t.Errorf("stdout %q, want %q", res.Stdout, w.stdout)
	}
	if w.atMost > 0 && res.Took > w.atMost || res.Took < w.atLeast {
		t.Errorf("took %s, want between %s and %s", res.Took, w.atLeast, w.atMost)
	}
	if res.Unclean || res.Survivors > 0 {
		t.Errorf("survivors %d, unclean %v", res.Survivors, res.Unclean)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestNothingIsInherited(t *testing.T) {
	t.Setenv("PROC_TEST_SECRET", "s3cret")
	res, err := Run(t.Context(), self(t, "env"))
	if err != nil || len(res.Stdout) != 0 {
		t.Errorf("nil Env must be an empty environment; got %q, %v", res.Stdout, err)
	}
	spec := self(t, "env")
	spec.Env = []string{"A=1", "B=\xff"}
	res, err = Run(t.Context(), spec)
	if err != nil || string(res.Stdout) != "A=1\nB=\xff" {
		t.Errorf("the environment must be exactly the one written out; got %q, %v", res.Stdout, err)
	}
	if slices.ContainsFunc(BaseEnv("HOME=/h"), func(e string) bool {
		return strings.Contains(e, "s3cret") || strings.HasPrefix(e, "HOME=") && e != "HOME=/h"
	}) {
		t.Error("BaseEnv leaks what is not on its list, or does not replace")
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, row := range map[string]struct {
		spec Spec
		want error
	}{
		"a bare name that is not in PATH": {Spec{Path: "prloop-no-such-program"}, ErrNotFound},
		"a path that does not exist":      {Spec{Path: filepath.Join(dir, "no")}, ErrNotFound},
		"an empty name":                   {Spec{}, ErrNotFound},
		"a script with no interpreter":    {Spec{Path: write("s", "#!/no/such/interpreter\n", 0o755)}, ErrNotFound},
		"a file that is not executable":   {Spec{Path: write("x", "#!/bin/sh\n", 0o644)}, fs.ErrPermission},
		"a folder that does not exist":    {Spec{Path: "/bin/sh", Dir: filepath.Join(dir, "no")}, fs.ErrNotExist},
	} {
		for _, direct := range []bool{false, true} {
			row.spec.Direct = direct
			if _, err := Run(t.Context(), row.spec); !errors.Is(err, row.want) {
				t.Errorf("%s (direct %v): %v, want %v", name, direct, err, row.want)
			}
		}
	}
}

func TestCancelSaysWhy(t *testing.T) {
	t.Parallel()
	errBudget := errors.New("out of budget")
	ctx, cancel := context.WithCancelCause(t.Context())
	spec := self(t, "ignore-term")
	spec.OnLine = func([]byte) { cancel(errBudget) }
	res, err := Run(ctx, spec)
	if res.Reason != ReasonCanceled || !errors.Is(err, errBudget) {
		t.Errorf("reason %q, error %v", res.Reason, err)
	}
	if _, err := Run(ctx, spec); !errors.Is(err, errBudget) {
		t.Errorf("a run under an ended context must not start: %v", err)
	}
}

func TestLinesArriveOneByOne(t *testing.T) {
	t.Parallel()
	spec := self(t, "cat")
	long := strings.Repeat("y", 100_000) // longer than a bufio.Scanner takes
	spec.Stdin = []byte("one\r\n\n" + long + "\nlast")
	var got []string
	spec.OnLine = func(b []byte) { got = append(got, string(b)) }
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "", long, "last"}; !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

// What a child wrote before it was ended for too much is read: the half line may say what nobody says again.
func TestTheLineThatIsTooMuchArrivesAsFarAsItIsAllowed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		reason Reason
		with   func(*Spec)
	}{
		"a line that is too long":   {ReasonLineLimit, func(s *Spec) { s.MaxLine = 6 }},
		"output that is too long":   {ReasonOutputLimit, func(s *Spec) { s.MaxStdout = 10 }},
		"a line that is both, last": {ReasonLineLimit, func(s *Spec) { s.MaxLine, s.MaxStdout = 6, 11 }},
	} {
		spec := self(t, "cat")
		spec.Stdin = []byte("one\nlast line\n")
		row.with(&spec)
		var got []string
		spec.OnLine = func(b []byte) { got = append(got, string(b)) }
		res, err := Run(t.Context(), spec)
		if want := []string{"one", "last l"}; err == nil || res.Reason != row.reason || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %s, %v; want %q", name, got, res.Reason, err, want)
		}
	}
}

func TestUnreadStdinDoesNotBlock(t *testing.T) {
	t.Parallel()
	spec := self(t, "exit", "0")
	spec.Stdin = bytes.Repeat([]byte("x"), 10<<20)
	res, err := Run(t.Context(), spec)
	if err != nil || res.StdinUnread < 9<<20 {
		t.Errorf("unread %d, %v", res.StdinUnread, err)
	}
}

func TestStderrTailIsTheEnd(t *testing.T) {
	t.Parallel()
	spec := self(t, "exit", "3")
	spec.KeepTail = 10
	res, err := Run(t.Context(), spec)
	if string(res.StderrTail) != "it ended\n" {
		t.Errorf("tail %q", res.StderrTail)
	}
	var exit *ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Took <= 0 || !strings.Contains(err.Error(), "exit status 3 after ") {
		t.Errorf("error %v", err)
	}
}

// What is kept begins with a whole line, of a line that is longer with a whole word: nobody knows the end of a token for a secret (threats.md T794).
func TestTailBeginsWhole(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"GH=ghp_16C7\nit", "GH=ghp_16C7\nit"},
		{"a\nGH=ghp_16C7e42F\nit ended\n", "it ended\n"},
		{"a\rGH=ghp_16C7e42F\rit ended\n", "it ended\n"},
		{"GH=ghp_16C7e42F292c it ended\n", "it ended\n"},
		{"GH=ghp_16C7e42F292c6912E\n", ""},
		{strings.Repeat("a\n", 24) + "GH=ghp_16C7e42F\nit ended\n", "it ended\n"},
	} {
		for _, each := range []int{1, 7, len(c.said)} {
			kept := Tail{Limit: 20}
			for part := range slices.Chunk([]byte(c.said), each) {
				_, _ = kept.Write(part)
			}
			if got := string(kept.Bytes()); got != c.want {
				t.Errorf("%q, written %d bytes each: %q is kept, want %q", c.said, each, got, c.want)
			}
		}
	}
}

// A flood of any size costs bounded memory (threats.md P9: at most 32 MB) and ends as the output limit (threats.md T84).
func TestFloodsAreBounded(t *testing.T) {
	for _, mode := range []string{"flood-out", "flood-err", "flood-both"} {
		t.Run(mode, func(t *testing.T) {
			before := heapSys()
			spec := self(t, mode)
			spec.Grace = 2 * time.Second // it floods on for all of the grace: gigabytes are drained
			res, err := Run(t.Context(), spec)
			if res.Reason != ReasonOutputLimit {
				t.Errorf("reason %q, %v", res.Reason, err)
			}
			if grown := heapSys() - before; grown > 32<<20 {
				t.Errorf("memory grew by %d MB", grown>>20)
			}
			if total := res.StdoutBytes + res.StderrBytes; total < 64<<20 {
				t.Errorf("only %d MB were written: the flood proves nothing", total>>20)
			}
			if len(res.Stdout) > DefaultMaxStream || len(res.StderrTail) > DefaultKeepTail {
				t.Errorf("kept %d and %d bytes", len(res.Stdout), len(res.StderrTail))
			}
		})
	}
}

// heapSys is the memory the heap has taken from the system, which counts peaks the collector has already freed.
func heapSys() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapSys)
}
