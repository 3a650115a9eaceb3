package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

// hanging is a reviewer that approves, until there is a file called approved; then it hangs, which hangs waits for.
func (h *hall) hanging() string {
	h.t.Helper()
	name := filepath.Join(h.home, "may.sh")
	write(h.t, name, []byte("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n[ -e approved ] && { touch hangs; exec sleep 600; }\nexec ./reads.sh\n"))
	if err := os.Chmod(name, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return "exec:" + name
}

func (h *hall) hangs() {
	h.t.Helper()
	h.within("a reviewer to be at work", func() bool { _, err := os.Stat(filepath.Join(h.home, "hangs")); return err == nil })
}

// quietNow are hours that are quiet as long as a test runs.
func quietNow() string {
	now := time.Now().UTC()
	return now.Add(-time.Hour).Format("15:04") + "-" + now.Add(6*time.Hour).Format("15:04")
}

// What a maintainer says in a thread of what is approved takes the success back wherever its review cannot begin, or waits for its turn, also where no event told of it; what
// a stranger says does not (threats.md T613).
func TestContestedInAThreadWhileNobodyCanReview(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	paused := func(h *hall, _ *forge.PullRequest) { h.run("pause") }
	for name, row := range map[string]struct {
		args   []string
		hinder func(*hall, *forge.PullRequest)
		who    string
		state  string
	}{
		"faulty rules": {nil, func(h *hall, p *forge.PullRequest) {
			write(h.t, filepath.Join(h.home, "tree", ".reviewerc"), []byte("reviewers: [\n"))
			if err := h.forge.Commit(h.repo, "own", p.BaseSHA(), "Faulty", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
				h.t.Fatal(err)
			}
		}, "mona", "error"},
		"paused": {nil, paused, "mona", "error"},
		"paused and by whom GitHub does not name": {nil, paused, "lisa", "error"},
		"paused without webhooks":                 {[]string{"--poll", "--every", "1s"}, paused, "mona", "error"},
		"a stranger while it is paused":           {nil, paused, "stranger", "success"},
		"busy": {[]string{"--reviews", "1"}, func(h *hall, _ *forge.PullRequest) {
			h.open(9, func(s *forge.PullSpec) { s.Title = "HANG" })
			h.hangs()
		}, "mona", "error"},
		"at work on another commit of it": {nil, func(h *hall, p *forge.PullRequest) {
			first := p.HeadSHA()
			if _, err := p.Push("contributor", "More", map[string]string{"notes2.txt": "more\n"}); err != nil {
				h.t.Fatal(err)
			}
			h.hangs()
			if err := h.repo.MoveBranch("shared", first); err != nil {
				h.t.Fatal(err)
			}
			h.forge.Delivered()
		}, "mona", "error"},
		"paused and closed meanwhile": {[]string{"--every", "1h"}, func(h *hall, p *forge.PullRequest) {
			h.run("pause")
			p.SetState("CLOSED")
			h.forge.Delivered()
		}, "mona", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			h.private("lisa")
			may := h.hanging()
			s := h.serve("", append(row.args, "--reviewers", may)...)
			h.status(p.HeadSHA(), "success")
			h.settled(1)
			write(t, filepath.Join(h.home, "approved"), nil)
			row.hinder(h, p)
			nextSecond()
			objects(p, row.who, map[string]string{"mona": "COLLABORATOR", "lisa": "CONTRIBUTOR"}[row.who])
			if _, _, state, _ := p.Words(); state == "CLOSED" {
				h.forge.Delivered()
				p.SetState("OPEN")
			}
			if row.state == "success" {
				h.within("it to wait", func() bool { return h.wanted()["#8"].Open() })
				time.Sleep(time.Second)
			}
			h.status(p.HeadSHA(), row.state)
			s.stop(t, syscall.SIGKILL)
		})
	}
}

// Nor where workers do the reviews, of which the process that hears of it does not know whether they are at work, or there at all.
func TestContestedInAThreadWhileWorkersReview(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, hinder := range map[string]func(h *hall, w *server){
		"all at work": func(h *hall, _ *server) {
			h.open(10, func(s *forge.PullSpec) { s.Title = "HANG" })
			h.hangs()
		},
		"none alive": func(h *hall, w *server) { w.stop(h.t, os.Kill) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			h.database = postgres.New(t)
			h.env = append(h.env, "PRLOOP_DATABASE="+h.database)
			may := h.hanging()
			s := h.serve("", "--reviews", "0", "--reviewers", may)
			w := h.work("one", []string{may}, "--reviews", "1")
			h.status(p.HeadSHA(), "success")
			h.settled(1)
			write(t, filepath.Join(h.home, "approved"), nil)
			hinder(h, w)
			nextSecond()
			objects(p, "mona", "COLLABORATOR")
			h.status(p.HeadSHA(), "error")
			s.stop(t, os.Kill)
		})
	}
}

// Nor does the author of a fork keep a success over quiet hours who closes it before its review says anything, and opens it again.
func TestContestedAndClosedAtOnce(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, _ := openGated(t)
	reads := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
	s := h.serve("", reads...)
	p := h.open(7, h.forked())
	h.within("it to be seen", func() bool { return h.wanted()["#7"].Outcome != "" })
	p.Comment("mona", "!prloop review")
	h.status(p.HeadSHA(), "success")
	h.settled(3)
	s.stop(t, syscall.SIGTERM)
	s = h.serve("", append(reads, "--quiet-hours", quietNow())...)
	h.reconciled()
	h.settled(3)
	from := len(h.forge.Log())
	objects(p, "mona", "COLLABORATOR")
	read := func() (n int) {
		for _, e := range h.forge.Log()[from:] {
			if e.Op == "PullRequest" {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(time.Minute); read() < 2; time.Sleep(time.Millisecond) { // by the look, then by its run
		if time.Now().After(deadline) {
			t.Fatal("no run reads it")
		}
	}
	p.SetState("CLOSED")
	h.settled(3)
	p.SetState("OPEN")
	h.status(p.HeadSHA(), "error", "failure")
	s.stop(t, syscall.SIGTERM)
}

// commandHall has a base with a command that is done when told to, and an approved pull request.
func commandHall(t *testing.T) (h *hall, p *forge.PullRequest, s *server, done func()) {
	t.Helper()
	h, p = openGated(t)
	slow := filepath.Join(h.home, "slowly.sh")
	write(t, slow, []byte("#!/bin/sh\ncat >/dev/null\ncd \"$(dirname \"$0\")\"\ntouch begun\nwhile [ ! -e go ]; do sleep 0.1; done\necho '{\"summary\":\"ok\",\"confidence\":\"low\",\"notes\":[],\"findings\":[]}'\n"))
	if err := os.Chmod(slow, 0o700); err != nil {
		t.Fatal(err)
	}
	rules := "gate: verdict\ncommands:\n  - {id: slowly, prompt: Look., agent: {use: command, path: " + slow + "}}\n"
	write(t, filepath.Join(h.home, "tree", ".reviewerc"), []byte(rules))
	if err := h.forge.Commit(h.repo, "own", p.BaseSHA(), "Rules", os.DirFS(filepath.Join(h.home, "tree"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\nallow_repo_commands: true\n"))
	if _, err := p.Push("contributor", "More", map[string]string{"notes2.txt": "more\n"}); err != nil {
		t.Fatal(err)
	}
	s = h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	return h, p, s, func() { write(t, filepath.Join(h.home, "go"), nil) }
}

// A command is no review: one that was overtaken has no objection wait (threats.md T613), and one that ran has no stop forgotten (threats.md T486).
func TestACommandIsNoReview(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p, s, done := commandHall(t)
	p.Comment("mona", "!slowly")
	h.within("the command to run", func() bool { _, err := os.Stat(filepath.Join(h.home, "begun")); return err == nil })
	p.SetState("CLOSED")
	h.within("it to be seen closed", func() bool { return strings.HasPrefix(h.wanted()["#8"].Seen, "CLOSED ") })
	done()
	h.settled(2)
	p.SetState("OPEN")
	h.settled(2)
	h.status(p.HeadSHA(), "success")
	s.stop(t, syscall.SIGTERM)
	s = h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"), "--quiet-hours", quietNow())
	objects(p, "mona", "COLLABORATOR")
	h.status(p.HeadSHA(), "failure")
	h.settled(2)
	s.stop(t, syscall.SIGTERM)
	s = h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	p.Comment("mona", "!prloop stop")
	h.settled(3)
	p.Comment("mona", "!slowly")
	h.settled(4)
	runs := h.run("runs")
	h.settle(p)
	h.settled(4)
	if now := h.run("runs"); now != runs {
		t.Errorf("another run began:\n%s", now)
	}
	s.stop(t, syscall.SIGTERM)
}

// Nor is a dry run one: a run that was cancelled while nobody served stays so after one (threats.md T486).
func TestADryRunForgetsNoCancel(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h := openHall(t)
	slow, runs := h.slow()
	s := h.serve("", "--reviewers", slow)
	p := h.open(7, nil)
	h.within("a reviewer to be at work", func() bool { return runs() == 1 })
	s.stop(t, syscall.SIGKILL)
	h.run("cancel", "latest")
	s = h.serve("", "--reviewers", slow)
	left := func() bool { return strings.Contains(h.wanted()["#7"].Why, "somebody cancelled run") }
	h.within("the run to be left", left)
	h.prloop("", "run", "7", "-R", "acme/widgets", "--dry-run", "--reviewers", "exec:"+filepath.Join(h.home, "clean.sh"))
	p.Label("mona", "docs")
	if h.settled(1); runs() != 1 || !left() {
		t.Errorf("%d runs: %+v", runs(), h.wanted()["#7"])
	}
	s.stop(t, syscall.SIGKILL)
}

// What an author clicks while their commit is looked at every ten minutes costs no look, and what a stranger says no reading of threads (threats.md T380).
func TestClicksCostNoLooks(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	h, p := openGated(t)
	s := h.serve("", "--reviewers", "exec:"+filepath.Join(h.home, "reads.sh"))
	h.status(p.HeadSHA(), "success")
	h.settled(1)
	var threads []int64
	for range 4 {
		threads = append(threads, p.AddThread(forge.Thread{Path: "notes.txt", Line: 1, Comments: []*forge.Comment{{Author: "stranger", Body: "Why?"}}}))
	}
	waits := func() bool { w := h.wanted()["#8"]; return w.Open() && w.Outcome == store.Waits }
	for said := 0; !waits(); said++ {
		if said > 30 {
			t.Fatalf("%d answers, and it does not wait", said)
		}
		before := h.wanted()["#8"].Handled
		p.Reply(threads[0], "stranger", fmt.Sprint("Again ", said))
		h.within("a look", func() bool { return h.wanted()["#8"].Handled > before || waits() })
	}
	asked := func(happens func()) (ops []string) {
		h.forge.Delivered()
		time.Sleep(time.Second)
		from := len(h.forge.Log())
		happens()
		h.forge.Delivered()
		time.Sleep(2 * time.Second)
		for _, e := range h.forge.Log()[from:] {
			if e.Op == "PullRequest" || e.Op == "Discussion" {
				ops = append(ops, e.Op)
			}
		}
		return ops
	}
	if ops := asked(func() {
		for _, id := range threads {
			p.ResolveThreadAs(id, "contributor")
		}
	}); len(ops) != 0 {
		t.Errorf("the author's clicks have %q asked", ops)
	}
	if ops := asked(func() { p.Reply(threads[0], "stranger", "And now?") }); len(ops) != 1 || ops[0] != "PullRequest" {
		t.Errorf("a stranger's reply has %q asked", ops)
	}
	objects(p, "mona", "COLLABORATOR")
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// A stranger's fork takes back no success of another pull request that only GitHub knows of, whatever base branch it chooses. One of who opened that one does
// (threats.md T465, T478).
func TestAStrangersForkWithACommitApprovedElsewhere(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for author, state := range map[string]string{"stranger": "success", "contributor": "error"} {
		t.Run(author, func(t *testing.T) {
			t.Parallel()
			h, own := openGated(t)
			if _, err := h.forge.AddRepo(author, "widgets"); err != nil {
				t.Fatal(err)
			}
			reads := []string{"--reviewers", "exec:" + filepath.Join(h.home, "reads.sh")}
			env := h.env
			h.env = append(slices.Clone(env), "PRLOOP_STATE="+filepath.Join(h.home, "laptop"))
			h.prloop("", append(reads, "run", "8", "-R", "acme/widgets", "--no-fix")...)
			h.env = env
			h.status(own.HeadSHA(), "success")
			s := h.serve("", append(reads, "--label", "never")...)
			h.reconciled()
			other := h.open(9, func(p *forge.PullSpec) {
				p.Author, p.Fork = author, author+"/widgets"
				p.Base, p.BaseRef, p.HeadRef, p.Head = nil, "own", "shared", os.DirFS(filepath.Join(h.home, "tree"))
			})
			if other.HeadSHA() != own.HeadSHA() {
				t.Fatal("the heads differ")
			}
			h.settled(2)
			before := h.wanted()["#9"].Handled
			retarget(t, other, "main")
			h.within("a look", func() bool { w := h.wanted()["#9"]; return w.Handled > before && !w.Open() })
			h.status(own.HeadSHA(), state)
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// A job that reviews what has a label, and no drafts, takes a success back when another base branch is chosen for what it does not review (threats.md T220).
func TestAJobThatReviewsNotTheNewBase(t *testing.T) {
	ofAnAttack(t)
	t.Parallel()
	for name, event := range map[string]string{
		"without its label": `"draft":false,"labels":[]`, "a draft": `"draft":true,"labels":[{"name":"prloop"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			h.labelJob(8, p, "first", `"action":"labeled","label":{"name":"prloop"}`, `"draft":false,"labels":[{"name":"prloop"}]`)
			h.status(p.HeadSHA(), "success")
			retarget(t, p, "main")
			h.labelJob(8, p, "second", `"action":"edited","changes":{"base":{"ref":{"from":"own"}}}`, event)
			h.status(p.HeadSHA(), "error")
		})
	}
}

// labelJob is what a job with a state folder of its own does about an event, given by its action and its pull request, where the label "prloop" is needed.
func (h *hall) labelJob(number int, p *forge.PullRequest, state, action, pull string) {
	h.t.Helper()
	file := filepath.Join(h.home, state+".json")
	write(h.t, file, fmt.Appendf(nil, `{%s,"number":%[2]d,"repository":{"full_name":"acme/widgets"},"pull_request":{"number":%[2]d,"state":"open",%s,"head":{"sha":%q,"repo":{"full_name":"acme/widgets"}}}}`,
		action, number, pull, p.HeadSHA()))
	env := h.env
	h.env = append(slices.Clone(env), "PRLOOP_STATE="+filepath.Join(h.home, state), "GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH="+file,
		"GITHUB_REPOSITORY=acme/widgets", "GITHUB_JOB=prloop", `PRLOOP_INPUTS={"label":"prloop","reviewers":"exec:`+filepath.Join(h.home, "reads.sh")+`"}`)
	h.prloop("", "action")
	h.env = env
}

// A second pull request with the commit, which nobody has reviewed, takes the success of the first back when it can be merged, whatever made it so, and not before
// (threats.md T803).
func TestAJobThatReviewsNotTheSecondPullRequest(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ action, pull, want string }{
		"it is opened":       {`"action":"opened"`, `"draft":false,"labels":[]`, "error"},
		"it gets the commit": {`"action":"synchronize"`, `"draft":false,"labels":[]`, "error"},
		"it is no draft now": {`"action":"ready_for_review"`, `"draft":false,"labels":[]`, "error"},
		"it is a draft":      {`"action":"opened"`, `"draft":true,"labels":[]`, "success"},
		"it gets a label":    {`"action":"labeled","label":{"name":"bug"}`, `"draft":false,"labels":[{"name":"bug"}]`, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, p := openGated(t)
			h.labelJob(8, p, "first", `"action":"labeled","label":{"name":"prloop"}`, `"draft":false,"labels":[{"name":"prloop"}]`)
			h.status(p.HeadSHA(), "success")
			second := h.open(9, func(s *forge.PullSpec) {
				s.Base, s.BaseRef, s.HeadRef, s.Head = nil, "main", "shared", nil
			})
			h.labelJob(9, second, "second", row.action, row.pull)
			h.status(p.HeadSHA(), row.want)
		})
	}
}
