package cli_test

import (
	"cmp"
	"errors"
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
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
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

// tenRows are ten pull requests, what happens to each once all that can be are reviewed, and what they end as.
var tenRows = []struct {
	name    string
	draft   bool
	then    func(t *testing.T, p *forge.PullRequest)
	outcome string // of the pull request; empty when nobody looked at it
	comment string // of what a comment asked for
	reports int
}{
	{"pushed to", false, pushed, "converged", "", 2},
	{"pushed to", false, pushed, "converged", "", 2},
	{"pushed to and made a draft", false, func(t *testing.T, p *forge.PullRequest) { p.SetDraft(true); pushed(t, p) }, "nothing", "", 1},
	{"left alone", false, nil, "converged", "", 1},
	{"asked about", false, said("mona", "!prloop status"), "converged", "answered", 1},
	{"talked about", false, said("mona", "thanks"), "converged", "", 1},
	{"asked about by a stranger", false, said("stranger", "!prloop review"), "converged", "nothing", 1},
	{"a draft", true, nil, "", "", 0},
	{"a draft that is made ready", true, func(_ *testing.T, p *forge.PullRequest) { p.SetDraft(false) }, "converged", "", 1},
	{"closed", false, func(_ *testing.T, p *forge.PullRequest) { p.SetState("CLOSED") }, "nothing", "", 1},
}

func pushed(t *testing.T, p *forge.PullRequest) {
	if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
		t.Error(err)
	}
}

func said(by, text string) func(*testing.T, *forge.PullRequest) {
	return func(_ *testing.T, p *forge.PullRequest) { p.Comment(by, text) }
}

// ten plays the rows, with every delivery twice, and checks what they end as. before is called when all pull requests are open.
func (h *hall) ten(before func()) {
	h.t.Helper()
	h.doubled = true
	var pulls []*forge.PullRequest
	for i, row := range tenRows {
		pulls = append(pulls, h.open(i+1, func(s *forge.PullSpec) { s.Draft = row.draft }))
	}
	before()
	reviewed := 0
	for _, row := range tenRows {
		if !row.draft {
			reviewed++
		}
	}
	h.settled(reviewed)
	subjects := reviewed
	for i, row := range tenRows {
		if row.then != nil {
			row.then(h.t, pulls[i])
		}
		if row.comment != "" {
			subjects++
		}
		if row.draft && row.outcome != "" {
			subjects++
		}
	}
	all := h.settled(subjects)
	if len(all) != subjects {
		h.t.Errorf("%d pull requests and comments were looked at, want %d", len(all), subjects)
	}
	for i, row := range tenRows {
		subject, comment := fmt.Sprintf("#%d", i+1), ""
		for name, w := range all {
			if strings.HasPrefix(name, subject+"/") {
				comment += w.Outcome
			}
		}
		if w := all[subject]; w.Outcome != row.outcome || comment != row.comment || reports(pulls[i]) != row.reports {
			h.t.Errorf("%s, %s: %q (%s), its comment %q, %d reports; want %q, %q, %d", subject, row.name, w.Outcome, w.Why, comment, reports(pulls[i]), row.outcome, row.comment, row.reports)
		}
	}
}

// From an empty folder, one process that serves on SQLite: ten pull requests end as the table says.
func TestTenPullRequests(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.serve("", "--reviews", "2")
	h.ten(func() {})
}

// One process that serves and two workers on machines of their own, on PostgreSQL: the same ten end the same, each commit is reviewed once, and each
// process has done some.
func TestWorkers(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.serve("", "--reviews", "1", "--reviewers", strings.Join(reviewers, ","))
	h.work("second", reviewers, "--reviews", "1")
	h.work("third", reviewers, "--reviews", "1")
	h.ten(func() {
		h.within("three processes to have a run each", func() bool { return len(h.working()) == 3 })
		h.free()
	})
	want := 0
	for _, row := range tenRows {
		want += row.reports
	}
	if h.asked("quick") != want || h.asked("slow") != want {
		t.Errorf("quick was asked %d times, slow %d; want %d", h.asked("quick"), h.asked("slow"), want)
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
			if !strings.Contains(h.log(), "PRLOOP_MARKER_KEY is not set") {
				t.Error("nobody says that this machine signs with a key of its own")
			}
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

// The only worker that does reviews is killed, or stopped for longer than its lease. Its review is gone on with by one that is started later, or by itself once it
// wakes, though serve does no reviews; nobody starts serve anew.
func TestOnlyWorkerIsLost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		signal syscall.Signal
		wakes  bool
	}{{"killed", syscall.SIGKILL, false}, {"frozen", syscall.SIGSTOP, false}, {"woken", syscall.SIGSTOP, true}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			reviewers := h.share()
			first := h.work("second", reviewers, "--reviews", "1")
			eventually.True(t, "the worker to work", func() bool { return strings.Contains(h.log(), "working for postgres://") })
			h.serve("", "--reviews", "0")
			p := h.open(7, nil)
			h.within("slow to be at work", func() bool { return h.asked("slow") == 1 })
			if err := first.Process.Signal(row.signal); err != nil {
				t.Fatal(err)
			}
			eventually.True(t, "its lease to be over", func() bool {
				return postgres.SQL(t, h.database, "SELECT count(*) FROM prloop.heartbeats WHERE expires < extract(epoch FROM clock_timestamp()) * 1000000") != "0" || strings.Contains(h.log(), "is gone; another goes on")
			})
			h.free()
			if row.wakes {
				if err := first.Process.Signal(syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
			} else {
				h.work("third", reviewers, "--reviews", "1")
			}
			if w := h.settled(1)["#7"]; w.Outcome != "converged" || reports(p) != 1 {
				t.Errorf("%+v; %d reports\n%s", w, reports(p), h.log())
			}
		})
	}
}

// A worker that is stopped once gh is started, for so long that another posts the report, hands nothing of gh on when it wakes: one report is there.
func TestWorkerIsStoppedWhileItPosts(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewers := h.share()
	h.free()
	here, bin := h.home, filepath.Join(h.home, "bin")
	// The first gh that posts waits for the file "go".
	script := "#!/bin/sh\nif [ \"$1 $2\" = 'pr comment' ] && mkdir " + here + "/posting 2>/dev/null; then until [ -e " + here + "/go ]; do sleep 0.05; done; fi\nexec " + forgetest.GH(t) + " \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "gh"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	first := h.work("second", reviewers, "--reviews", "1")
	eventually.True(t, "the worker to work", func() bool { return strings.Contains(h.log(), "working for postgres://") })
	h.serve("", "--reviews", "0")
	p := h.open(7, nil)
	h.within("the worker to post", func() bool { _, err := os.Stat(filepath.Join(here, "posting")); return err == nil })
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.work("third", reviewers, "--reviews", "1")
	h.within("another to post", func() bool { return reports(p) == 1 })
	if err := os.WriteFile(filepath.Join(here, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // gh comes to the door of a process that is stopped; without it the test shows less, and holds
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.within("the worker to begin anew", func() bool { return strings.Contains(h.log(), "this worker begins anew") })
	if w := h.settled(1)["#7"]; w.Outcome != "converged" || reports(p) != 1 {
		t.Errorf("%+v; %d reports", w, reports(p))
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

// within waits for what takes its time on a loaded machine.
func (h *hall) within(what string, done func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("still waiting for %s", what)
		}
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

// A worker is lost while a fix is made, or when its commits are made and not pushed: nobody else has these commits. Another machine makes the fix, reviews
// it and ends the run.
func TestWorkerIsLostInAFix(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"", "fix: rewritten", "verify: running", "push: before"} {
		t.Run(cmp.Or(point, "told to end"), func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			h.share()
			h.repo.SetPermission("contributor", forge.Write)
			for _, name := range []string{"strict.sh", "mend.sh", "fine.json"} {
				data, err := os.ReadFile(filepath.Join("testdata", "share", name))
				if err != nil {
					t.Fatal(err)
				}
				text := string(data)
				if name == "fine.json" {
					write(t, filepath.Join(h.home, name), data)
					continue
				}
				does := "\necho asked >>" + h.home + "/" + name + ".asked\n"
				if name == "mend.sh" && point == "" {
					does += "until [ -e " + h.home + "/free ]; do sleep 0.05; done\n"
				}
				text = strings.Replace(text, "\n", does, 1)
				if err := os.WriteFile(filepath.Join(h.home, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\nfixer: {use: command, path: "+h.home+"/mend.sh}\nverify: [\"test -f stock.go\"]\n"))
			h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"), "PRLOOP_MARKER_KEY="+strings.Repeat("ab", 32))
			reviewers := []string{"exec:" + h.home + "/strict.sh", "exec:" + h.home + "/clean.sh"}
			others := h.env
			if point != "" {
				h.env = append(slices.Clone(h.env), "PRLOOP_FAILPOINT="+point+"=kill")
			}
			first := h.work("second", reviewers, "--reviews", "1", "--fix", "--drain", "100ms")
			h.env = others
			eventually.True(t, "the worker to work", func() bool { return strings.Contains(h.log(), "working for postgres://") })
			h.serve("", "--reviews", "0", "--fix")
			p := h.open(7, nil)
			h.within("the fixer to be asked", func() bool { return h.asked("mend.sh") == 1 })
			if point == "" {
				first.stop(t, syscall.SIGTERM)
				h.free()
			}
			h.work("third", reviewers, "--reviews", "1", "--fix")
			head := p.HeadSHA()
			w := h.settled(1)["#7"]
			if w.Outcome != "converged" || p.HeadSHA() == head || reports(p) == 0 {
				t.Errorf("%+v; %d reports; pushed: %t\n%s", w, reports(p), p.HeadSHA() != head, h.log())
			}
			if n := h.asked("strict.sh"); n != 2 {
				t.Errorf("strict was asked %d times, want once for each head", n)
			}
			last := forge.Status{}
			for _, s := range h.repo.Statuses() {
				if s.SHA == p.HeadSHA() {
					last = s
				}
			}
			if last.State != "success" {
				t.Errorf("the status of the pushed head is %+v", last)
			}
		})
	}
}
