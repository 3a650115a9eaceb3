package cli_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/sandbox"
)

// goneWithin is how long anything of a run may live on after prloop was killed (threats.md P8).
const goneWithin = time.Second

// TestNothingSurvivesKill kills prloop with signal 9 in the middle of runs whose agents fork, daemonise, hold their streams
// and ignore TERM: once all of them are there, and at any moment of the start. Nothing below prloop is left a second later,
// in a full sandbox and with the leash alone; the next run removes what the dead one left in the state folder
// (threats.md P8, T103, T104).
func TestNothingSurvivesKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs and kills the whole program twelve times: go test without -short does")
	}
	a := newArena(t)
	boxed := []string{"required", "off"}
	if r := thisMachine.Probe(t.Context()); r.Tier > sandbox.Tier1b {
		t.Logf("only the leash is tried: %s", r)
		boxed = boxed[1:]
	}
	for _, box := range boxed {
		wild := bout{env: []string{"PRLOOP_SANDBOX=" + box}, analyzer: fighter{mode: "hang-silent"}}
		for _, mode := range []string{"daemon", "daemon-hang", "bomb", "hold-stdout", "ignore-term"} {
			wild.reviewers = append(wild.reviewers, fighter{name: mode, mode: mode, args: []string{"-count", "10"}})
		}
		slowest := time.Duration(0)
		for trial := range 6 {
			b := a.enter(wild)
			// The first trials wait for the whole zoo: the daemon, ten of the bomb with a child each, and those that hang.
			when := time.Duration(0)
			if trial > 1 {
				when = time.Duration(300+rand.IntN(1200)) * time.Millisecond
			}
			slowest = max(slowest, b.killed(when))
			if trial == 0 {
				b.reviewers = []fighter{{name: "good", mode: "ok"}}
				b.configure()
				b.fight()
				if entries, err := os.ReadDir(filepath.Join(b.state(), "scratch")); err != nil || len(entries) > 0 {
					t.Errorf("sandbox %s: after the next run scratch holds %v (%v)", box, entries, err)
				}
			}
		}
		t.Logf("sandbox %s: all gone within %v", box, slowest.Round(time.Millisecond))
	}
}

// killed starts a bout and kills prloop after a while, or once all agents are there, and waits until nothing below it is
// left. It returns how long that took.
func (b *bout) killed(when time.Duration) time.Duration {
	b.t.Helper()
	cmd := b.command()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if when > 0 {
		time.Sleep(when)
	} else {
		const all = 24
		for deadline := time.Now().Add(30 * time.Second); len(b.census()) < all; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				b.t.Fatalf("%s: only %d processes came: the test would not notice one\n%s", b, len(b.census()), &stderr)
			}
		}
	}
	there := descendants(pid)
	if err := cmd.Process.Kill(); err != nil {
		b.t.Errorf("%s: prloop had ended before it was killed: %v\n%s", b, err, &stderr)
	}
	killed := time.Now()
	_ = cmd.Wait()
	left := func() (list []string) {
		for _, p := range there {
			if p.alive() {
				list = append(list, p.String())
			}
		}
		return append(list, b.census()...)
	}
	list := left()
	for ; len(list) > 0 && time.Since(killed) < goneWithin; list = left() {
		time.Sleep(5 * time.Millisecond)
	}
	took := time.Since(killed)
	if len(list) > 0 {
		b.t.Errorf("%s: %d processes are left %v after prloop was killed: %q", b, len(list), goneWithin, list)
	}
	return took
}

// relative is a process below prloop, by number and start.
type relative struct {
	pid           int
	started, name string
}

func (r relative) String() string { return fmt.Sprintf("%d (%s)", r.pid, r.name) }

func (r relative) alive() bool {
	now, _, ended := look(r.pid)
	return !ended && now.started == r.started
}

// look reads what /proc says of a process.
func look(pid int) (r relative, parent int, ended bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if err != nil || open < 0 || end < open {
		return r, 0, true
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return r, 0, true
	}
	parent, _ = strconv.Atoi(fields[1])
	return relative{pid, fields[19], string(data[open+1 : end])}, parent, fields[0] == "Z" || fields[0] == "X"
}

// descendants are all processes below one.
func descendants(root int) (found []relative) {
	children := map[int][]relative{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if r, parent, ended := look(pid); !ended {
			children[parent] = append(children[parent], r)
		}
	}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, c := range children[queue[0]] {
			found = append(found, c)
			queue = append(queue, c.pid)
		}
	}
	return found
}
