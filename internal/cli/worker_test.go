package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// share has the processes of a hall share a database, and gives its reviewers: quick, which answers at once, and slow, which waits for the
// file free. Each notes that it was asked.
func (h *hall) share() (reviewers []string) {
	h.t.Helper()
	h.database = postgres.New(h.t) + "&prloop_lease=3s"
	h.env = append(h.env, "PRLOOP_DATABASE="+h.database)
	for name, wait := range map[string]string{"quick": "", "slow": "until [ -e \"$here/free\" ]; do sleep 0.05; done\n"} {
		text := "#!/bin/sh\nhere=" + h.home + "\ncat >/dev/null\necho asked >>$here/" + name + ".asked\n" + wait + "exec " + filepath.Join(h.home, "clean.sh") + " </dev/null\n"
		file := filepath.Join(h.home, name+".sh")
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			h.t.Fatal(err)
		}
		reviewers = append(reviewers, "exec:"+file)
	}
	return reviewers
}

// asked is how often a reviewer was asked.
func (h *hall) asked(name string) int {
	data, _ := os.ReadFile(filepath.Join(h.home, name+".asked")) // not yet there
	return strings.Count(string(data), "\n")
}

// free lets slow reviewers answer.
func (h *hall) free() {
	if err := os.WriteFile(filepath.Join(h.home, "free"), nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// work starts prloop worker with a state folder of its own, as on a machine of its own.
func (h *hall) work(machine string, reviewers []string, args ...string) *server {
	h.t.Helper()
	program, err := exec.LookPath("prloop")
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(program, append([]string{"worker", "--reviewers", strings.Join(reviewers, ",")}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(slices.Clone(h.env), "PRLOOP_STATE="+filepath.Join(h.home, machine)), h.home, h, h
	cmd.WaitDelay = killPatience
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	s := &server{cmd, make(chan error, 1)}
	go func() { s.ended <- cmd.Wait() }()
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); <-s.ended })
	return s
}

// working are the runs at work, by the processes that have them.
func (h *hall) working() map[string]int {
	out := map[string]int{}
	for process := range strings.FieldsSeq(postgres.SQL(h.t, h.database, "SELECT process FROM prloop.run_locks WHERE process IN (SELECT id FROM prloop.processes)")) {
		out[process]++
	}
	return out
}

// Ten pull requests are reviewed by one process that serves and two workers on machines of their own; what happens on GitHub comes to the
// same as with one process, and each of them has done some.
func TestWorkers(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.doubled = true
	h.serve("", "--reviews", "1", "--reviewers", strings.Join(reviewers, ","))
	h.work("second", reviewers, "--reviews", "1")
	h.work("third", reviewers, "--reviews", "1")
	var pulls []*forge.PullRequest
	for n := 1; n <= 10; n++ {
		pulls = append(pulls, h.open(n, nil))
	}
	eventually.True(t, "three processes to have a run each", func() bool { return len(h.working()) == 3 })
	h.free()
	h.settled(10)
	for _, p := range pulls[:3] {
		if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
			t.Fatal(err)
		}
	}
	pulls[4].Comment("mona", "!prloop status")
	pulls[9].SetState("CLOSED")
	all := h.settled(11)
	for i, p := range pulls {
		want := 1
		if i < 3 {
			want = 2
		}
		if w := all[fmt.Sprintf("#%d", i+1)]; w.Outcome != "converged" && i != 9 || reports(p) != want {
			t.Errorf("#%d: %+v, %d reports, want %d", i+1, w, reports(p), want)
		}
	}
	if h.asked("quick") != 13 || h.asked("slow") != 13 {
		t.Errorf("quick was asked %d times, slow %d; want 13", h.asked("quick"), h.asked("slow"))
	}
}

// A worker that is killed, stopped for longer than its lease, or told to end while reviewers are at work loses its review to another machine, which asks
// only those who had not answered; one report is posted. The one that was stopped wakes, writes nothing, and works on as a new process.
func TestWorkerIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *server){
		"killed":      func(t *testing.T, s *server) { s.stop(t, syscall.SIGKILL) },
		"told to end": func(t *testing.T, s *server) { s.stop(t, syscall.SIGTERM) },
		"stopped": func(t *testing.T, s *server) {
			if err := s.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			reviewers := h.share()
			first := h.work("second", reviewers, "--reviews", "1", "--drain", "100ms")
			eventually.True(t, "the worker to work", func() bool { return strings.Contains(h.log(), "working for postgres://") })
			h.serve("", "--reviews", "0")
			p := h.open(7, nil)
			eventually.True(t, "quick to have answered and slow to be at work", func() bool {
				return h.asked("slow") == 1 && postgres.SQL(t, h.database, "SELECT count(*) FROM dbos.operation_outputs WHERE function_name LIKE '%quick%'") != "0"
			})
			lost := time.Now()
			h.work("third", reviewers, "--reviews", "1")
			lose(t, first)
			eventually.True(t, "slow to be asked by another", func() bool { return h.asked("slow") == 2 })
			took := time.Since(lost)
			h.free()
			all := h.settled(1)
			if name == "stopped" {
				if err := first.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				eventually.True(t, "the worker to begin anew", func() bool { return strings.Contains(h.log(), "this worker begins anew") })
			}
			if w := all["#7"]; w.Outcome != "converged" || reports(p) != 1 || h.asked("quick") != 1 || h.asked("slow") != 2 {
				t.Errorf("%+v; %d reports, quick asked %d times, slow %d", w, reports(p), h.asked("quick"), h.asked("slow"))
			}
			t.Logf("taken over after %v, with a lease of 3s", took.Round(time.Millisecond))
			s, err := store.Open(t.Context(), store.Options{Address: h.database})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if runs, err := s.ListRuns(t.Context(), store.Filter{}); err != nil || len(runs) != 1 || runs[0].State != store.Finished {
				t.Errorf("runs: %+v, %v", runs, err)
			}
		})
	}
}

// A run is cancelled wherever it is at work.
func TestCancelOnAWorker(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.serve("", "--reviews", "0", "--reviewers", strings.Join(reviewers, ","))
	h.work("second", reviewers, "--reviews", "1")
	h.open(1, nil)
	eventually.True(t, "the worker to have the run", func() bool { return len(h.working()) == 1 && h.asked("slow") == 1 })
	h.run("cancel", "latest")
	if w := h.settled(1)["#1"]; w.Outcome != "cancelled" {
		t.Errorf("%+v", w)
	}
}

// What a worker lacks is said when it starts, in one sentence.
func TestWorkerLacks(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	w := h.work("second", []string{"static"})
	<-w.ended
	w.ended <- nil
	if said := h.log(); !strings.Contains(said, "a worker needs a database that it shares with prloop serve") || !strings.Contains(said, "try: set PRLOOP_DATABASE") {
		t.Errorf("without a database: %s", said)
	}
	h.share()
	h.env = append(h.env, "PRLOOP_SANDBOX=required", "PRLOOP_SANDBOX_WITHOUT=namespaces,bubblewrap,landlock,seccomp")
	w = h.work("third", []string{"static"})
	<-w.ended
	w.ended <- nil
	if said := h.log(); !strings.Contains(said, "confine") {
		t.Errorf("without a sandbox: %s", said)
	}
}
