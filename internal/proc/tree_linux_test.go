package proc

import (
	"bufio"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// marked lists the processes that carry the marker in their arguments, leashes of this test's own tree not included.
func marked(t *testing.T, marker string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(data), marker) {
			found = append(found, strings.ReplaceAll(string(data), "\x00", " "))
		}
	}
	return found
}

// gone waits until no process carries the marker, at most for a second (threats.md P8).
func gone(t *testing.T, marker string) {
	t.Helper()
	deadline := time.Now().Add(time.Second)
	for left := marked(t, marker); len(left) > 0; left = marked(t, marker) {
		if time.Now().After(deadline) {
			t.Fatalf("still there after a second: %q", left)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestNothingSurvivesTheRun(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		mode   string
		extra  []string
		change func(*Spec)
		reason Reason
		// survivors is the least number of processes that must have been found and killed after a good end
		survivors int
		lost      bool
	}{
		"a daemon (setsid and double fork) left behind (threats.md T82)": {mode: "double-fork", survivors: 1},
		"a daemon while its starter hangs (threats.md T82)": {mode: "double-fork", extra: []string{"stay"},
			change: func(s *Spec) { s.Timeout = time.Second }, reason: ReasonTimeout},
		"a grandchild that holds stdout; the answer is taken (threats.md T83)": {mode: "hold-stdout", survivors: 1},
		"a child that kills its parent (fakeagent kill-parent)":                {mode: "kill-parent", reason: ReasonLeashLost, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marker := "marker-" + rand.Text()
			spec := self(t, row.mode, append([]string{marker}, row.extra...)...)
			if row.change != nil {
				row.change(&spec)
			}
			res, err := Run(t.Context(), spec)
			if left := marked(t, marker); len(left) > 0 {
				t.Errorf("Run returned and left %q", left)
			}
			if res.Reason != row.reason || (err == nil) != (row.reason == "") || res.Unclean {
				t.Errorf("reason %q, unclean %v, error %v", res.Reason, res.Unclean, err)
			}
			if res.Survivors < row.survivors {
				t.Errorf("%d survivors counted, want %d", res.Survivors, row.survivors)
			}
			if row.mode == "hold-stdout" && (string(res.Stdout) != "answer\n" || res.Took > 3*time.Second) {
				t.Errorf("answer %q after %s", res.Stdout, res.Took)
			}
		})
	}
}

// What a direct child leaves falls to this process, and whoever sweeps first counts it: no other test goes on meanwhile.
func TestNothingSurvivesADirectChild(t *testing.T) {
	marker := "marker-" + rand.Text()
	spec := self(t, "double-fork", marker)
	spec.Direct = true
	res, err := Run(t.Context(), spec)
	if left := marked(t, marker); len(left) > 0 {
		t.Errorf("Run returned and left %q", left)
	}
	if err != nil || res.Reason != "" || res.Unclean || res.Survivors < 1 {
		t.Errorf("reason %q, unclean %v, %d survivors, error %v", res.Reason, res.Unclean, res.Survivors, err)
	}
}

// threats.md P8: when prloop dies, however it dies, its agents and all they started are gone within a second.
func TestNothingSurvivesTheParent(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"a child that ignores TERM":            {"ignore-term"},
		"a tree with a daemon in it":           {"double-fork", "MARKER", "stay"},
		"a daemon that was left by its parent": {"double-fork", "MARKER"},
		"a direct child":                       {"direct", "ignore-term"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marker := "marker-" + rand.Text()
			full := append([]string{"test-child", "parent"}, args...)
			for i := range full {
				full[i] = strings.ReplaceAll(full[i], "MARKER", marker)
			}
			path, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, append(full, marker)...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if args[0] == "double-fork" {
				eventually.True(t, "the daemon", func() bool { return daemonSeen(t, marker) })
			} else if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Errorf("the child said %q", line)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed := time.Now()
			cmd.Wait()
			gone(t, marker)
			t.Logf("gone after %s", time.Since(killed))
		})
	}
}

func daemonSeen(t *testing.T, marker string) bool {
	for _, p := range marked(t, marker) {
		if strings.Contains(p, "mark-and-hang") {
			return true
		}
	}
	return false
}

func TestNoDescriptorIsPassedOn(t *testing.T) {
	f, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// An inherited descriptor without the mark, as a careless parent of prloop leaves it.
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	res, err := Run(t.Context(), self(t, "fds"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(res.Stdout), "/dev/zero") || strings.Contains(string(res.Stdout), "socket:") {
		t.Errorf("the child holds:\n%s", res.Stdout)
	}
}

// Threads come and go in a Go process; the death signal must not take that for our death (finding 5).
func TestThreadChurnKillsNoChild(t *testing.T) {
	t.Parallel()
	spec := self(t, "drip")
	spec.Timeout = 1500 * time.Millisecond
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				done := make(chan struct{})
				go func() { defer close(done); lockAndDie() }()
				<-done
			}
		}
	}()
	res, _ := Run(t.Context(), spec)
	close(stop)
	if res.Reason != ReasonTimeout {
		t.Errorf("ended early: reason %q, signal %q", res.Reason, res.Signal)
	}
}

// lockAndDie ends the thread it runs on.
func lockAndDie() { runtime.LockOSThread() }

func TestNamesInProcCannotForgeTheTree(t *testing.T) {
	t.Parallel()
	p, ok := readProcess(os.Getpid())
	if !ok || p.parent != os.Getppid() || p.started == 0 || p.zombie {
		t.Errorf("%+v", p)
	}
	tree := []process{{pid: 2, parent: 1}, {pid: 3, parent: 2, zombie: true}, {pid: 4, parent: 3}, {pid: 5, parent: 9}}
	got := below(tree, 1)
	if len(got) != 2 || got[0].pid != 2 || got[1].pid != 4 {
		t.Errorf("below 1: %+v", got)
	}
}

func BenchmarkRun(b *testing.B) {
	for name, direct := range map[string]bool{"leashed": false, "direct": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(b.Context(), Spec{Path: "true", Direct: direct}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
