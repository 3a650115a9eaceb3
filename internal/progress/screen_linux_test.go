package progress

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/prloop/prloop/review"
)

// pty opens a pseudo terminal of a size.
func pty(t *testing.T, columns, rows uint16) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// On a real terminal: the lines are drawn, the terminal stays in its ordinary mode (ctrl-c is a signal for the caller),
// nothing is asked of it, and it is given back with the cursor on.
func TestTerminal(t *testing.T) {
	for _, columns := range []uint16{100, 20} { // a narrow one wraps lines, which are taken off all the same
		t.Run(fmt.Sprint(columns), func(t *testing.T) { testTerminal(t, columns) })
	}
}

func testTerminal(t *testing.T, columns uint16) {
	master, slave := pty(t, columns, 24)
	before, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte, 1)
	go func() {
		var all bytes.Buffer
		chunk := make([]byte, 4096)
		for {
			n, err := master.Read(chunk)
			all.Write(chunk[:n])
			if err != nil || bytes.Contains(all.Bytes(), []byte("END-OF-TEST")) {
				read <- all.Bytes()
				return
			}
		}
	}()
	v := New(Options{Out: slave, IsTerminal: true})
	for _, e := range demoEvents() {
		v.Event(e)
	}
	during, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *during != *before {
		t.Error("the terminal's mode was changed, so ctrl-c is no signal")
	}
	v.Done(demoResult())
	fmt.Fprintln(slave, "END-OF-TEST")
	var out string
	select {
	case b := <-read:
		out = string(b)
	case <-time.After(20 * time.Second):
		t.Fatal("the terminal never got the end")
	}
	for _, want := range []string{"reviewer-1", "complete", "verdict: request_changes", "changes requested", "src/a.go:12"} {
		if !strings.Contains(out, want) {
			t.Errorf("the terminal never showed %q", want)
		}
	}
	if frame, after, ok := strings.Cut(out, "A\x1b[J"); !ok || strings.Contains(frame, "changes requested") || strings.Contains(after, "verdict: request_changes") {
		t.Error("the agents are not taken off the terminal before the summary")
	}
	for name, bad := range map[string]string{
		"a query": "$p", "another screen": "\x1b[?1049h", "a colour without permission": "\x1b[32m", "an agent's escape": "\x1b[31m",
	} {
		if strings.Contains(out, bad) {
			t.Errorf("the terminal was sent %s", name)
		}
	}
	if strings.LastIndex(out, "\x1b[?25l") > strings.LastIndex(out, "\x1b[?25h") {
		t.Error("the cursor is left hidden")
	}
}

func TestInterruptedRunLeavesTheTerminal(t *testing.T) {
	master, slave := pty(t, 80, 24)
	go func() { // a terminal that is read from, so that writes do not block
		chunk := make([]byte, 4096)
		for {
			if _, err := master.Read(chunk); err != nil {
				return
			}
		}
	}()
	v := New(Options{Out: slave, IsTerminal: true, Color: true})
	v.Event(review.Event{Kind: review.EventState, Agent: "a", State: review.AgentRunning})
	closed := make(chan struct{})
	go func() { v.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("Close hangs")
	}
}

// What ran when the view was closed is shown without a spinner, and what was echoed below the lines is gone.
func TestTheLastFrameStandsStill(t *testing.T) {
	var out bytes.Buffer
	v := New(Options{Out: &out, IsTerminal: true, now: func() time.Time { return time.Unix(1, 0) }})
	v.Event(review.Event{Kind: review.EventState, Agent: "a", State: review.AgentRunning})
	v.Event(review.Event{Kind: review.EventCheck, Check: &review.Check{Command: "make"}})
	v.Close()
	frames := strings.Split(out.String(), beginFrame)
	const want = "\x1b[K  a      running        -         -        -\r\n\x1b[K  $ make  running  -\r\n" + eraseBelow + endFrame
	if _, got, _ := strings.Cut(frames[len(frames)-1], "A"); got != want { // behind the way up
		t.Errorf("the last frame is %q, want %q", got, want)
	}
}

// A narrower terminal has wrapped the frame that is to be replaced; one that is as high as the window cannot be left upwards.
func TestTheFrameBeforeAResize(t *testing.T) {
	s := &screen{drawn: []string{strings.Repeat("x", 79), "\x1b[32m" + strings.Repeat("y", 40) + "\x1b[0m", ""}, columns: 80}
	for _, row := range []struct {
		columns, rows int
		want          string
	}{{80, 24, "\r\x1b[3A"}, {120, 24, "\r\x1b[3A"}, {40, 24, "\r\x1b[4A"}, {39, 24, "\r\x1b[6A"}, {39, 5, "\r\x1b[4A"}} {
		if got := s.up(row.columns, row.rows); got != row.want {
			t.Errorf("in %d columns %q, want %q", row.columns, got, row.want)
		}
	}
}
