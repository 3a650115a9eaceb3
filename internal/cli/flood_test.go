package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// floodGrowthBytes is how much more memory prloop may hold while its agents flood it (threats.md P9, T84).
const floodGrowthBytes = 32 << 20

// TestFloodMemory floods prloop on both streams, with no regard for TERM, with findings that never end, and from five
// agents at once: each is cut at 8 MB of a stream, what still comes until it is dead is thrown away, and prloop never holds
// more than 32 MB beyond what a clean run holds.
func TestFloodMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves gigabytes through the whole program: go test without -short does")
	}
	a := newArena(t)
	for _, box := range []string{"off", "best"} {
		team := func(modes ...string) (b bout) {
			b.env = []string{"PRLOOP_SANDBOX=" + box}
			b.reviewers = []fighter{{name: "good", mode: "ok"}}
			for i, mode := range modes[:4] {
				b.reviewers = append(b.reviewers, fighter{name: fmt.Sprintf("agent-%d", i+1), mode: mode})
			}
			b.analyzer = fighter{mode: modes[4]}
			return b
		}
		clean := a.enter(team("ok-empty", "ok-empty", "ok-empty", "ok-empty", "ok-empty")).watched()
		t.Logf("sandbox %s: a clean run holds %d MB at most", box, clean.peak>>20)
		for _, modes := range [][]string{
			{"flood-stubborn", "ok-empty", "ok-empty", "ok-empty", "ok-empty"},
			{"flood-json", "ok-empty", "ok-empty", "ok-empty", "ok-empty"},
			{"flood-stubborn", "flood-stubborn", "flood-both", "flood-out", "flood-stubborn"},
		} {
			flooded := a.enter(team(modes...)).watched()
			checkFlood(t, box, modes, clean, flooded)
		}
	}
}

func checkFlood(t *testing.T, box string, modes []string, clean, flooded watched) {
	t.Helper()
	grown, read := flooded.peak-clean.peak, flooded.read-clean.read
	t.Logf("sandbox %s, %s: %.2f GB read in %.1f s, %+d MB", box, strings.Join(modes, ","), float64(read)/1e9, flooded.took.Seconds(), grown>>20)
	if grown > floodGrowthBytes {
		t.Errorf("sandbox %s: prloop grew by %d MB", box, grown>>20)
	}
	floods := int64(0)
	for i, mode := range modes {
		if mode == "ok-empty" {
			continue
		}
		floods++
		name := fmt.Sprintf("agent-%d", i+1)
		if i == 4 {
			name = "comments-analyzer"
		}
		if got := flooded.agent(name); got.State == well || !strings.Contains(got.Reason, "wrote too much") {
			t.Errorf("sandbox %s: %s is %s: %s", box, name, got.State, got.Reason)
		}
	}
	if read < floods*(8<<20) {
		t.Errorf("sandbox %s: only %d bytes were read: nothing was flooded", box, read)
	}
	if got, want := flooded.answer("good"), clean.answer("good"); got != want {
		t.Errorf("sandbox %s: the good reviewer's answer is not that of a clean run:\n%s", box, got)
	}
	flooded.checkGone(0)
}

// watched is a finished run of which the memory was watched.
type watched struct {
	*finished
	// peak is the most memory prloop itself held, read is what it read from files, pipes and sockets, both in bytes.
	peak, read int64
}

// watched runs a bout and looks at the process all the while.
func (b *bout) watched() watched {
	b.t.Helper()
	done := make(chan struct{})
	w := watched{}
	f := b.fightWith(func(pid int) {
		go func() {
			defer close(done)
			for {
				status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
				if err != nil || !bytes.Contains(status, []byte("VmHWM:")) { // it has ended
					return
				}
				counts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
				w.peak = max(w.peak, figure(status, "VmHWM:")<<10)
				w.read = max(w.read, figure(counts, "rchar:"))
				time.Sleep(5 * time.Millisecond)
			}
		}()
	})
	<-done
	if w.peak == 0 {
		b.t.Fatal("the memory of prloop was never seen")
	}
	w.finished = f
	return w
}

// figure reads one number of a file of /proc.
func figure(data []byte, name string) (n int64) {
	_, rest, _ := bytes.Cut(data, []byte(name))
	_, _ = fmt.Sscan(string(rest), &n)
	return n
}
