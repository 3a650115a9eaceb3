package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/internal/testkit/forge/forgetest"
	"github.com/prloop/prloop/review"
)

const hookSecret = "it-is-known-to-both-of-us"

// hall is a forge whose webhooks go to prloop serve.
type hall struct {
	t     *testing.T
	forge *forge.Forge
	repo  *forge.Repo
	home  string
	env   []string
	// socket is where prloop takes deliveries: a port that is free now may be somebody else's before prloop listens.
	socket string
	// said is what processes wrote.
	mu   sync.Mutex
	said bytes.Buffer
	// database is the one its processes share; empty for that of the state folder.
	database string
	// lost drops deliveries, doubled sends each twice.
	lost, doubled bool
	// secret signs them.
	secret string
	// served is the repository as its operator spells it; empty for as GitHub does.
	served string
	// jobs counts the state folders of alone.
	jobs int
}

func (h *hall) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(p)
}

func (h *hall) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.String()
}

func openHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{t: t, forge: forgetest.Start(t), home: t.TempDir(), secret: hookSecret}
	var err error
	if h.repo, err = h.forge.AddRepo("acme", "widgets"); err != nil {
		t.Fatal(err)
	}
	h.repo.SetPermission("octocat", forge.Write)
	h.repo.SetPermission("mona", forge.Write)
	for _, name := range []string{"clean.sh", "picky.sh", "picky.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", "share", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.home, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "hall-") // short: a socket stands in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h.socket = filepath.Join(dir, "s")
	h.env = append(h.forge.Env(""), "HOME="+h.home, "PRLOOP_STATE="+filepath.Join(h.home, "state"), "PRLOOP_SANDBOX=off", "PRLOOP_WEBHOOK_SECRET="+hookSecret,
		"PRLOOP_LOG=warn", "PATH="+os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(forgetest.GH(t)))
	h.forge.OnEvent(func(d forge.Delivery) {
		h.mu.Lock()
		times := map[bool]int{false: 1, true: 2}[h.doubled]
		if h.lost {
			times = 0
		}
		h.mu.Unlock()
		for range times {
			h.deliver(d)
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("prloop said:\n%s", h.log())
		}
	})
	return h
}

// deliver sends a delivery once, as GitHub does, and gives its status; 0 when nobody answered.
func (h *hall) deliver(d forge.Delivery) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := d.Request(ctx, "http://localhost/webhook", h.secret)
	if err != nil {
		return 0
	}
	resp, err := h.client().Do(r)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// listen is the address that prloop listens at.
func (h *hall) listen() string { return "unix:" + h.socket }

// client asks what listens there.
func (h *hall) client() *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", h.socket)
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// open opens pull request n, whose branch and change are its own.
func (h *hall) open(n int, change func(*forge.PullSpec)) *forge.PullRequest {
	h.t.Helper()
	s := forge.PullSpec{
		Owner: "acme", Repo: "widgets", Number: n, Title: "Count the stock", Body: "Because.", Author: "contributor", HeadRef: fmt.Sprintf("topic-%d", n),
		Base: os.DirFS("testdata/share/base"), Head: os.DirFS("testdata/share/head"),
	}
	if change != nil {
		change(&s)
	}
	return forgetest.Open(h.t, h.forge, s)
}

// server is a process that serves.
type server struct {
	*exec.Cmd
	ended chan error
}

// serve starts prloop serve and waits until it takes deliveries.
func (h *hall) serve(armed string, args ...string) *server {
	h.t.Helper()
	program, err := exec.LookPath("prloop")
	if err != nil {
		h.t.Fatal(err)
	}
	polls := slices.Contains(args, "--poll")
	if !polls {
		args = append(args, "--listen", h.listen())
	}
	cmd := exec.Command(program, append([]string{"serve", cmp.Or(h.served, "acme/widgets"), "--settle", "0s", "--reviewers", "exec:" + filepath.Join(h.home, "clean.sh")}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(h.env[:len(h.env):len(h.env)], "PRLOOP_FAILPOINT="+armed), h.home, h, h
	cmd.WaitDelay = killPatience
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	s := &server{cmd, make(chan error, 1)}
	go func() { s.ended <- cmd.Wait() }()
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); <-s.ended })
	eventually.True(h.t, "the server to listen", func() bool {
		select {
		case err := <-s.ended: // at a point where it was to end
			s.ended <- err
			return armed != ""
		default:
		}
		if polls {
			return true
		}
		c, err := net.Dial("unix", h.socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return s
}

// stop ends a server by a signal and waits for it.
func (s *server) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(killPatience):
		t.Fatal("the server goes on")
	}
}

// record opens what the server records.
func (h *hall) record() *store.Store {
	h.t.Helper()
	s, err := store.Open(h.t.Context(), store.Options{Address: cmp.Or(h.database, filepath.Join(h.home, "state", "prloop.db"))})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// reconciled waits until the server has asked what no event told of: a pull request that is opened meanwhile may be asked for by both.
func (h *hall) reconciled() {
	h.t.Helper()
	s := h.record()
	defer s.Close()
	eventually.True(h.t, "the server to ask for what no event told of", func() bool {
		note, err := s.Note(h.t.Context(), "reconciled github.com/acme/widgets")
		return err == nil && note != ""
	})
}

// wanted reads what was wanted, and what became of it.
func (h *hall) wanted() map[string]store.Wanted {
	h.t.Helper()
	s := h.record()
	defer s.Close()
	all, err := s.WantedOf(h.t.Context(), "github.com/acme/widgets")
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]store.Wanted{}
	for _, w := range all {
		out[strings.TrimPrefix(w.Subject, "github.com/acme/widgets")] = w
	}
	return out
}

// settled waits until so much was wanted and nothing is open, and gives what became of it.
func (h *hall) settled(subjects int) map[string]store.Wanted {
	h.t.Helper()
	h.forge.Delivered()
	var all map[string]store.Wanted
	deadline := time.Now().Add(3 * time.Minute)
	for {
		all = h.wanted()
		open := 0
		for _, w := range all {
			if w.Open() {
				open++
			}
		}
		if len(all) >= subjects && open == 0 {
			return all
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("still open: %+v", all)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// reports counts the reports on a pull request.
func reports(p *forge.PullRequest) (n int) {
	for _, c := range p.Comments() {
		if c.Author == "octocat" && strings.Contains(c.Body, "\n## prloop: ") {
			n++
		}
	}
	return n
}

// A pull request that is opened is reviewed, a push is reviewed again, a comment is answered, and nothing is done twice though every
// delivery comes twice.
func TestServe(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.doubled = true
	s := h.serve("")
	h.reconciled()
	p := h.open(7, nil)
	draft := h.open(8, func(s *forge.PullSpec) { s.Draft = true })
	all := h.settled(1)
	if w := all["#7"]; w.Outcome != "converged" || w.Run == "" {
		t.Errorf("opened: %+v", w)
	}
	if _, wanted := all["#8"]; wanted {
		t.Errorf("a draft: %+v", all["#8"])
	}
	if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
		t.Fatal(err)
	}
	draft.SetDraft(false)
	p.Comment("mona", "!prloop status")
	p.Comment("stranger", "!prloop review")
	p.Comment("mona", "thanks")
	after := h.settled(4)
	if w := after["#7"]; w.Outcome != "converged" || w.Run == all["#7"].Run || w.Asked != 2 {
		t.Errorf("pushed to: %+v", w)
	}
	if w := after["#8"]; w.Outcome != "converged" {
		t.Errorf("made ready: %+v", w)
	}
	var answers, refusals int
	for subject, w := range after {
		switch {
		case !strings.Contains(subject, "/"):
		case w.Outcome == "answered" && w.Why == "mona was answered":
			answers++
		case w.Outcome == "nothing" && strings.Contains(w.Why, "stranger may not write"):
			refusals++
		default:
			t.Errorf("%s: %+v", subject, w)
		}
	}
	if answers != 1 || refusals != 1 {
		t.Errorf("%d comments were answered, %d refused", answers, refusals)
	}
	if reports(p) != 2 || reports(draft) != 1 {
		t.Errorf("%d reports on #7, %d on #8", reports(p), reports(draft))
	}
	s.stop(t, syscall.SIGTERM)
}

// However long what strangers write on a pull request is, and however much, it is reviewed, and comments on it are answered (threats.md T378).
func TestLongCommentsStopNoReview(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	p := h.open(7, nil)
	body := strings.Repeat("😀", 65_536)
	for range 140 {
		p.Comment("stranger", body)
	}
	for range 40 {
		p.AddReview(forge.Review{Author: "stranger", State: "COMMENTED", Body: body})
	}
	s := h.serve("")
	if w := h.settled(1)["#7"]; w.Outcome != "converged" {
		t.Errorf("opened: %+v", w)
	}
	p.Comment("mona", "!prloop status")
	if w := h.settled(2); len(w) != 2 || !strings.Contains(fmt.Sprint(w), "mona was answered") {
		t.Errorf("asked: %+v", w)
	}
	var said []string
	for _, c := range p.Comments() {
		if c.Author == "octocat" {
			said = append(said, c.Body)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], "long comments by people who may not block only the beginning was read.") || !strings.Contains(said[1], "The last report is of") {
		t.Errorf("it said %q", said)
	}
	s.stop(t, syscall.SIGTERM)
}

// What a stranger says in threads has the verdict computed anew so often and no more. What waits says why, and what somebody who may block says does not wait
// (threats.md T380).
func TestRepliesOfStrangersWait(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	write(t, filepath.Join(h.home, "operator.yml"), []byte("gate: verdict\n"))
	h.env = append(h.env, "PRLOOP_CONFIG="+filepath.Join(h.home, "operator.yml"))
	s := h.serve("")
	h.reconciled()
	p := h.open(7, nil)
	h.settled(1)
	thread := func(by string) int64 {
		return p.AddThread(forge.Thread{Path: "stock.go", Line: 1, Resolved: by == "stranger", Comments: []*forge.Comment{{Author: by, Body: "This loses data."}}})
	}
	talk := thread("stranger")
	runs := func() int { return len(runID.FindAllString(h.run("runs", "--json", "run"), -1)) }
	waits := func() bool {
		w := h.wanted()["#7"]
		return w.Open() && w.Outcome == store.Waits && strings.Contains(w.Why, "was looked at 12 times within three hours")
	}
	for said := 0; said < 11 || !waits(); said++ {
		if said > 30 {
			t.Fatalf("%d answers, and %d runs", said, runs())
		}
		before := h.wanted()["#7"].Handled
		p.Reply(talk, "stranger", "It does.")
		h.within("a look", func() bool { return h.wanted()["#7"].Handled > before || waits() })
	}
	if n := runs(); n != 12 {
		t.Errorf("%d runs", n)
	}
	if out := h.run("status"); !strings.Contains(out, "what was said since is looked at together") {
		t.Error(out)
	}
	h.status(p.HeadSHA(), "success")
	p.Reply(thread("mona"), "mona", "Always.")
	h.status(p.HeadSHA(), "failure")
	s.stop(t, syscall.SIGTERM)
}

// Somebody who may not write and comments without end costs one request a comment (threats.md T390).
func TestServeAsksOnceAboutAStranger(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	s := h.serve("")
	h.reconciled()
	p := h.open(7, nil)
	p.Comment("stranger", "!prloop help")
	h.settled(2)
	asked := len(h.forge.Log())
	for n := range 10 {
		p.Comment("stranger", fmt.Sprintf("!prloop help\n\n%d", n))
	}
	h.settled(12)
	var ops []string
	for _, x := range h.forge.Log()[asked:] {
		ops = append(ops, x.Op)
	}
	if len(ops) > 15 {
		t.Errorf("10 comments cost %d requests: %q", len(ops), ops)
	}
	p.Comment("mona", "!prloop status")
	if w := h.settled(13); len(w) != 13 {
		t.Errorf("%d subjects", len(w))
	}
	if last := p.Comments()[len(p.Comments())-1]; last.Author != "octocat" {
		t.Errorf("mona was not answered: %+v", last)
	}
	s.stop(t, syscall.SIGTERM)
}

// serverPoints are the points of a process that serves.
var serverPoints = []string{"delivery: verified", "delivery: stored", "wanted: before it is settled", "reconcile: before it is noted"}

// A machine whose clock is hours from GitHub's answers a comment all the same that no delivery told of (threats.md T314).
func TestServeWithAWrongClock(t *testing.T) {
	for _, wrong := range []string{"3h", "-3h"} {
		t.Run(wrong, func(t *testing.T) {
			h := openHall(t)
			clock := filepath.Join(h.home, "clock")
			write(t, clock, []byte(wrong))
			h.env = append(h.env, "PRLOOP_CLOCK="+clock)
			h.serve("", "--every", "1s")
			p := h.open(7, nil)
			if all := h.settled(1); all["#7"].Outcome != "converged" {
				t.Fatalf("%+v", all)
			}
			h.mu.Lock()
			h.lost = true
			h.mu.Unlock()
			p.Comment("mona", "!prloop status")
			eventually.True(t, "an answer", func() bool { return len(p.Comments()) == 3 })
		})
	}
}

// A server that is killed at any of its points, or in the middle of a review, loses nothing and says nothing twice: the next one goes on, once
// GitHub has sent again what it had no answer to.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	for _, point := range append(serverPoints, "reviewers: asking", "github: after comment") {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			var mu sync.Mutex
			var unanswered []forge.Delivery
			h.forge.OnEvent(func(d forge.Delivery) {
				if h.deliver(d) != http.StatusAccepted {
					mu.Lock()
					defer mu.Unlock()
					unanswered = append(unanswered, d)
				}
			})
			s := h.serve(point + "=kill")
			p := h.open(7, nil)
			select {
			case err := <-s.ended:
				s.ended <- err
			case <-time.After(killPatience):
				t.Fatalf("%q was not reached", point)
			}
			h.forge.Delivered()
			s = h.serve("")
			mu.Lock()
			for _, d := range unanswered { // somebody presses "Redeliver"
				if status := h.deliver(d); status != http.StatusAccepted {
					t.Errorf("sent again: %d", status)
				}
			}
			mu.Unlock()
			all := h.settled(1)
			if w := all["#7"]; w.Run == "" && w.Outcome != "nothing" || reports(p) != 1 {
				t.Errorf("%+v, %d reports", w, reports(p))
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// Without webhooks, and where all of them are lost, GitHub is asked: for pull requests that are not as they were, and for comments. A server that was
// away finds what happened meanwhile.
func TestServePolls(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.forge.OnEvent(nil)
	p, draft := h.open(7, nil), h.open(8, func(s *forge.PullSpec) { s.Draft = true })
	p.Comment("mona", "!prloop help") // before anybody served, and nobody's to answer
	nextSecond()
	s := h.serve("", "--poll", "--every", "1s")
	all := h.settled(2)
	if all["#7"].Outcome != "converged" || all["#8"].Outcome != "nothing" || !strings.Contains(all["#8"].Why, "draft") {
		t.Errorf("at first: %+v", all)
	}
	eventually.True(t, "the comments to be noted", func() bool { return h.note() != "" })
	s.stop(t, syscall.SIGTERM)
	if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
		t.Fatal(err)
	}
	draft.SetDraft(false)
	p.Comment("mona", "!prloop status")
	s = h.serve("", "--poll", "--every", "1s")
	h.settled(3)
	eventually.True(t, "both to be reviewed", func() bool { return reports(p) == 2 && reports(draft) == 1 })
	all = h.settled(3)
	if len(all) != 3 || all["#8"].Outcome != "converged" || all["#7"].Outcome != "converged" {
		t.Errorf("then: %+v", all)
	}
	s.stop(t, syscall.SIGTERM)
	if reports(p) != 2 || reports(draft) != 1 {
		t.Errorf("%d reports on #7, %d on #8", reports(p), reports(draft))
	}
	if n := strings.Count(h.log(), "acme/widgets is served for the first time: open pull requests to review, but for those that flags leave out: 2; prloop pause holds them back\n"); n != 1 {
		t.Errorf("it was said %d times that what is open is reviewed", n)
	}
}

// A repository that is not there, or that this login may not read, is told of at once, also by prloop status, and so is that it can be read again.
func TestServeTellsOfWhatItCannotRead(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.served = "acme/nothing"
	h.env = append(h.env, "PRLOOP_LOG=error")
	s := h.serve("", "--poll", "--every", "1s")
	const missing = "acme/nothing: not found, or this login may not read it\n"
	h.within("a line", func() bool { return strings.Contains(h.log(), missing) })
	if out := h.run("status"); !strings.Contains(out, "not seen    acme/nothing since ") || !strings.HasSuffix(out, missing[len("acme/nothing"):]) {
		t.Errorf("status: %s", out)
	}
	if _, err := h.forge.AddRepo("acme", "nothing"); err != nil {
		t.Fatal(err)
	}
	h.within("it to be read", func() bool { return strings.Contains(h.log(), "acme/nothing: GitHub answers again\n") })
	if out := h.run("status"); !strings.Contains(out, "no server was asked for anything yet; all runs: prloop runs\n") {
		t.Errorf("status of what can be read: %s", out)
	}
	s.stop(t, syscall.SIGTERM)
	if n := strings.Count(h.log(), missing); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// nextSecond waits for one: GitHub's times are whole seconds.
func nextSecond() { time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) }

// note is when the repository was reconciled last.
func (h *hall) note() string {
	h.t.Helper()
	s, err := store.Open(h.t.Context(), store.Options{Address: filepath.Join(h.home, "state", "prloop.db")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	note, err := s.Note(h.t.Context(), "reconciled github.com/acme/widgets")
	if err != nil {
		h.t.Fatal(err)
	}
	return note
}

// run runs a command on the state of the hall.
func (h *hall) run(args ...string) string {
	h.t.Helper()
	cmd := exec.Command("prloop", args...)
	cmd.Env, cmd.Dir = h.env, h.home
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("prloop %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// What failed before a run began is looked at again after a while: the fault that kept it from one may be repaired, which no event of the pull request tells.
func TestServeAfterARepair(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	clock := filepath.Join(h.home, "clock")
	h.env = append(h.env, "PRLOOP_CLOCK="+clock)
	first := h.open(6, nil)
	dir := filepath.Join(h.home, "main")
	if err := os.CopyFS(dir, os.DirFS("testdata/share/base")); err != nil {
		t.Fatal(err)
	}
	rules := func(parent, text string) (head string) {
		write(t, filepath.Join(dir, ".reviewerc"), []byte(text))
		if err := h.forge.Commit(h.repo, "main", parent, "Rules", os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		all, err := h.repo.Branches()
		if err != nil {
			t.Fatal(err)
		}
		return all["main"]
	}
	faulty := rules(first.BaseSHA(), "reviewers: [\n")
	p := h.open(7, func(s *forge.PullSpec) { s.Base = nil })
	s := h.serve("", "--every", "1s")
	h.within("7 to fail", func() bool { w := h.wanted()["#7"]; return w.Outcome == "failed" && !w.Open() })
	p.Comment("mona", "!prloop review")
	h.within("an answer", func() bool {
		return slices.ContainsFunc(p.Comments(), func(c forge.Comment) bool { return strings.Contains(c.Body, "the settings are faulty: .reviewerc") })
	})
	rules(faulty, "min_reviewers: 1\n")
	write(t, clock, []byte("31m"))
	h.within("a report on 7", func() bool { return reports(p) == 1 })
	s.stop(t, syscall.SIGTERM)
}

// What a look fails to hear, such as what a collaborator says in a thread of what is approved, a later one hears.
func TestSaidWhileTheRulesAreFaulty(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	clock := filepath.Join(h.home, "clock")
	h.env = append(h.env, "PRLOOP_CLOCK="+clock)
	dir := filepath.Join(h.home, "main")
	if err := os.CopyFS(dir, os.DirFS("testdata/share/base")); err != nil {
		t.Fatal(err)
	}
	rules := func(text string) {
		write(t, filepath.Join(dir, ".reviewerc"), []byte(text))
		all, err := h.repo.Branches()
		if err == nil {
			err = h.forge.Commit(h.repo, "main", all["main"], "Rules", os.DirFS(dir))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p := h.open(7, nil)
	s := h.serve("", "--every", "1s")
	h.within("7 to be approved", func() bool { return h.wanted()["#7"].Outcome == "converged" })
	rules("reviewers: [\n")
	p.Reply(p.AddThread(forge.Thread{Path: "stock.go", Line: 1, Comments: []*forge.Comment{{Author: "mona", Association: "COLLABORATOR", Body: "P0: this drops the database."}}}), "mona", "P0: do not merge this.")
	h.within("7 to fail", func() bool { w := h.wanted()["#7"]; return w.Outcome == "failed" && !w.Open() })
	rules("min_reviewers: 1\n")
	write(t, clock, []byte("31m"))
	h.within("mona to be heard", func() bool { return h.wanted()["#7"].Outcome == "changes_requested" })
	s.stop(t, syscall.SIGTERM)
}

// So is what failed because the model's key was refused, which began no run.
func TestServeAfterAKeyWasReplaced(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	clock := filepath.Join(h.home, "clock")
	h.env = append(h.env, "PRLOOP_CLOCK="+clock)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer refuses.Close()
	good := h.env
	h.env = append(slices.Clone(good), "OPENAI_API_KEY=sk-expired-expired-expired-1", "OPENAI_BASE_URL="+refuses.URL, "PRLOOP_MODEL=gpt-4.1")
	s := h.serve("", "--every", "1s", "--reviewers", "builtin")
	p := h.open(7, nil)
	h.within("7 to fail", func() bool { w := h.wanted()["#7"]; return w.Outcome == "failed" && !w.Open() })
	s.stop(t, syscall.SIGTERM)
	h.env = good
	write(t, clock, []byte("31m"))
	s = h.serve("", "--every", "1s")
	h.within("a report", func() bool { return reports(p) == 1 })
	s.stop(t, syscall.SIGTERM)
}

// A dry run is no review: nobody was told what it found.
func TestServeAfterADryRun(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	p := h.open(7, nil)
	h.prloop("", "run", "7", "-R", "acme/widgets", "--dry-run")
	s := h.serve("", "--every", "1s")
	h.within("a report", func() bool { return reports(p) == 1 })
	s.stop(t, syscall.SIGTERM)
}

// slow is a reviewer that never ends, and how often it was asked.
func (h *hall) slow() (reviewer string, runs func() int) {
	h.t.Helper()
	script := filepath.Join(h.home, "slow.sh")
	write(h.t, script, []byte("#!/bin/sh\necho >> \"$(dirname \"$0\")/began\"\nexec sleep 600\n"))
	if err := os.Chmod(script, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return "exec:" + script, func() int { data, _ := os.ReadFile(filepath.Join(h.home, "began")); return len(data) }
}

// rerun has somebody ask for the checks of a pull request again.
func (h *hall) rerun(number int) {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{
		"action": "rerequested", "repository": map[string]any{"id": 2000000002, "full_name": "acme/widgets", "html_url": "https://github.com/acme/widgets"},
		"sender": map[string]any{"id": 77, "type": "User"}, "check_suite": map[string]any{"pull_requests": []any{map[string]any{"number": number}}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if status := h.deliver(forge.Delivery{GUID: "11111111-1111-1111-1111-111111111101", Event: "check_suite", Action: "rerequested", Body: body}); status/100 != 2 {
		h.t.Fatalf("the delivery: %d", status)
	}
}

// A stop on a pull request that its author has closed holds when it is opened again (threats.md T672).
func TestAStopOfAClosedPullRequestHolds(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	slow, runs := h.slow()
	h.serve("", "--reviewers", slow, "--every", "1s")
	h.reconciled()
	p := h.open(7, func(s *forge.PullSpec) { s.Draft = true })
	p.SetState("CLOSED")
	p.Comment("mona", "!prloop stop")
	h.within("an answer", func() bool { return len(p.Comments()) == 2 })
	p.SetDraft(false)
	p.SetState("OPEN")
	h.within("it to be seen", func() bool { return strings.Contains(h.wanted()["#7"].Why, "mona asked for a stop") })
	if all := h.settled(2); runs() != 0 {
		t.Errorf("%d runs: %+v", runs(), all)
	}
	p.Comment("mona", "!prloop review")
	h.within("a reviewer to be asked for", func() bool { return runs() == 1 })
	p.Comment("mona", "!prloop stop")
	h.settled(4)
}

// Who asks for a stop has no other run begin by itself about that head, whether one was at work or waited (threats.md T486).
func TestStoppedIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprint(waits), func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			slow, runs := h.slow()
			if waits {
				h.run("pause")
			}
			s := h.serve("", "--reviewers", slow, "--every", "1s")
			p := h.open(7, nil)
			if waits { // asked for before the stop
				h.forge.Delivered()
				h.rerun(7)
			}
			want := 0
			if !waits {
				h.within("a reviewer to be at work", func() bool { return runs() == 1 })
				want = 1
			}
			p.Comment("mona", "!prloop stop")
			h.within("an answer", func() bool {
				return slices.ContainsFunc(p.Comments(), func(c forge.Comment) bool { return strings.Contains(c.Body, "no other by itself") })
			})
			if waits {
				h.run("resume-queue")
			}
			if all := h.settled(2); !strings.Contains(all["#7"].Why, "mona asked for a stop") || runs() != want {
				t.Errorf("%d runs: %+v", runs(), all["#7"])
			}
			h.prloop("", "run", "7", "-R", "acme/widgets", "--dry-run") // no review, and so no word against the stop
			p.Label("mona", "docs")
			if h.settled(2); runs() != want {
				t.Errorf("%d runs", runs())
			}
			p.Comment("mona", "!prloop review")
			h.within("a reviewer to be asked for", func() bool { return runs() == want+1 })
			p.Comment("mona", "!prloop stop")
			if all := h.settled(4); runs() != want+1 {
				t.Errorf("%d runs: %+v", runs(), all)
			}
			if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
				t.Fatal(err)
			}
			h.within("the push to be reviewed", func() bool { return runs() == want+2 })
			s.stop(t, syscall.SIGKILL)
		})
	}
}

// A server that finds a pull request and a stop together, or whose run is about the commit before, keeps the word of the answer: the commit that was the head then is not
// reviewed (threats.md T637).
func TestAStopIsFoundWithItsCommit(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]func(h *hall, slow string, runs func() int) *forge.PullRequest{
		"at a start": func(h *hall, slow string, _ func() int) *forge.PullRequest {
			s := h.serve("", "--poll", "--every", "2s")
			h.reconciled()
			s.stop(h.t, syscall.SIGTERM)
			nextSecond()
			p := h.open(7, nil)
			p.Comment("mona", "!prloop stop")
			h.serve("", "--reviewers", slow, "--poll", "--every", "2s")
			return p
		},
		"at work": func(h *hall, slow string, runs func() int) *forge.PullRequest {
			p := h.open(7, nil)
			h.serve("", "--reviewers", slow, "--poll", "--every", "1m")
			h.within("a reviewer to be at work", func() bool { return runs() == 1 })
			if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
				h.t.Fatal(err)
			}
			p.Comment("mona", "!prloop stop")
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			h.lost = true
			slow, runs := h.slow()
			p := found(h, slow, runs)
			h.within("the stop to be kept", func() bool {
				w := h.wanted()["#7"]
				return !w.Open() && strings.Contains(w.Why, "mona asked for a stop")
			})
			if runs() > 1 || reports(p) > 0 {
				t.Errorf("%d runs, %d reports", runs(), reports(p))
			}
		})
	}
}

// A queue that is paused during a run begins no review of the commit that is pushed meanwhile, until it goes on.
func TestPausedWhileTheHeadMoves(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	reviewer, runs := h.slow()
	write(t, filepath.Join(h.home, "slow.sh"), []byte("#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho >> began\nwhile [ ! -e go ]; do sleep 0.1; done\nexec ./picky.sh\n"))
	h.serve("", "--reviewers", reviewer)
	p := h.open(7, nil)
	h.within("a reviewer to be at work", func() bool { return runs() == 1 })
	h.run("pause")
	if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
		t.Fatal(err)
	}
	h.forge.Delivered()
	write(t, filepath.Join(h.home, "go"), nil)
	h.within("the push to wait", func() bool { return h.wanted()["#7"].Why == "the queue is paused" })
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
	h.run("resume-queue")
	h.within("the push to be reviewed", func() bool { return runs() == 2 })
}

// A paused queue begins no review and says so; a run that is cancelled is not gone on with; the server says whether it lives and works.
func TestServeIsOperated(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	if out := h.run("status"); !strings.Contains(out, "no server was asked for anything yet; all runs: prloop runs\n") {
		t.Errorf("at first: %s", out)
	}
	h.run("pause")
	hold := filepath.Join(h.home, "hang.sh")
	if err := os.WriteFile(hold, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--reviewers", "exec:"+hold)
	for _, path := range []string{"/healthz", "/readyz"} {
		eventually.True(t, path+" to be well", func() bool {
			resp, err := h.client().Get("http://localhost" + path)
			if err != nil {
				return false
			}
			resp.Body.Close()
			return resp.StatusCode == http.StatusOK
		})
	}
	p := h.open(7, nil)
	h.forge.Delivered()
	if out := h.run("status"); !strings.Contains(out, "paused since") || !strings.Contains(out, "waits       github.com/acme/widgets#7, new") {
		t.Errorf("paused: %s", out)
	}
	if w := h.wanted()["#7"]; !w.Open() || w.Run != "" {
		t.Errorf("paused: %+v", w)
	}
	h.run("resume-queue")
	eventually.True(t, "the run to be under way", func() bool { return strings.Contains(h.run("status"), "running     acme/widgets#7") })
	h.run("cancel", "latest")
	if w := h.settled(1)["#7"]; w.Outcome != "cancelled" || w.Run == "" || reports(p) != 0 {
		t.Errorf("cancelled: %+v, %d reports", w, reports(p))
	}
	if out := h.run("status"); !strings.Contains(out, "cancelled   github.com/acme/widgets#7") || !strings.Contains(out, "interrupted acme/widgets#7") {
		t.Errorf("cancelled: %s", out)
	}
	p.Label("mona", "docs")
	if w := h.settled(1)["#7"]; !strings.Contains(w.Why, "somebody cancelled run") {
		t.Errorf("another run began: %+v", w)
	}
	s.stop(t, syscall.SIGTERM)
}

// A run that is cancelled while nobody serves is not gone on with either, and no other takes its place, until somebody asks.
func TestCancelledWhileNobodyServes(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	slow, runs := h.slow()
	s := h.serve("", "--reviewers", slow)
	p := h.open(7, nil)
	h.within("a reviewer to be at work", func() bool { return runs() == 1 })
	s.stop(t, syscall.SIGKILL)
	h.run("cancel", "latest")
	s = h.serve("", "--reviewers", slow)
	h.within("the run to be left", func() bool { return strings.Contains(h.wanted()["#7"].Why, "somebody cancelled run") })
	if runs() != 1 {
		t.Errorf("%d runs", runs())
	}
	p.Comment("mona", "!prloop review")
	h.within("another run", func() bool { return runs() == 2 })
	s.stop(t, syscall.SIGKILL)
}

// A stop is about the head there is, also where the run in hand is about the one before. A cancel is about the commit that the run was at work on: one that was pushed
// meanwhile is reviewed.
func TestEndedAfterAPush(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *hall, p *forge.PullRequest, runs func() int){
		"a stop": func(h *hall, p *forge.PullRequest, runs func() int) {
			p.Comment("mona", "!prloop stop")
			h.within("the stop to be kept", func() bool { return strings.Contains(h.wanted()["#7"].Why, "mona asked for a stop") })
			if h.settled(2); runs() != 1 {
				h.t.Errorf("%d runs", runs())
			}
		},
		"a cancel": func(h *hall, _ *forge.PullRequest, runs func() int) {
			h.run("cancel", "latest")
			h.within("the push to be reviewed", func() bool { return runs() == 2 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			slow, runs := h.slow()
			s := h.serve("", "--reviewers", slow)
			p := h.open(7, nil)
			h.within("a reviewer to be at work", func() bool { return runs() == 1 })
			if _, err := p.Push("contributor", "More", map[string]string{"more.go": "package stock\n"}); err != nil {
				t.Fatal(err)
			}
			h.forge.Delivered()
			end(h, p, runs)
			s.stop(t, syscall.SIGKILL)
		})
	}
}

// A server keeps what became of the findings of a pull request once it is merged: as a webhook tells.
func TestServeLearnsOfMerges(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"webhook": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openHall(t)
			s := h.serve("", append(args, "--reviewers", "exec:"+filepath.Join(h.home, "picky.sh"))...)
			p := h.open(7, nil)
			if w := h.settled(1)["#7"]; w.Outcome != "changes_requested" {
				t.Fatalf("%+v", w)
			}
			if err := p.Merge("mona", false); err != nil {
				t.Fatal(err)
			}
			var m store.Merge
			h.within("the merge to be kept", func() bool {
				st, err := store.Open(t.Context(), store.Options{Address: filepath.Join(h.home, "state", "prloop.db")})
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				err = st.EachMerge(t.Context(), "acme/widgets", time.Time{}, func(one store.Merge) error { m = one; return nil })
				return err == nil && m.PR == 7
			})
			if len(m.Findings) != 1 || m.Findings[0].Became != review.BecameIgnored || m.Head != p.HeadSHA() {
				t.Errorf("%+v, and the head was %s", m, p.HeadSHA())
			}
			s.stop(t, syscall.SIGTERM)
		})
	}
}

// However people spell a repository's name, it has one run at a time, one report, and one answer to a comment (threats.md T337).
func TestServeKnowsNoCase(t *testing.T) {
	t.Parallel()
	h := openHall(t)
	h.served = "Acme/Widgets"
	script := "#!/bin/sh\nhere=" + h.home + "\ncat >/dev/null\necho asked >>$here/slow.asked\nuntil [ -e \"$here/free\" ]; do sleep 0.05; done\nexec $here/clean.sh </dev/null\n"
	slow := filepath.Join(h.home, "slow.sh")
	if err := os.WriteFile(slow, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s := h.serve("", "--every", "1s", "--reviews", "3", "--reviewers", "exec:"+slow)
	p := h.open(7, nil)
	eventually.True(t, "the reviewer to be asked", func() bool { return h.asked("slow") > 0 })
	p.Comment("mona", "!prloop status")
	before := h.note()
	eventually.True(t, "GitHub to be asked again", func() bool { return h.note() > before })
	cmd := exec.Command("prloop", "run", "7", "-R", "ACME/widgets", "--no-fix", "--reviewers", "exec:"+slow)
	cmd.Env, cmd.Dir = h.env, h.home
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "acme/widgets#7 is being worked on by run") {
		t.Errorf("a run by hand beside the server's: %v\n%s", err, out)
	}
	h.free()
	all := h.settled(2)
	if asked := h.asked("slow"); len(all) != 2 || asked != 1 || reports(p) != 1 {
		t.Errorf("the reviewer was asked %d times, and there are %d reports; wanted: %+v", asked, reports(p), all)
	}
	s.stop(t, syscall.SIGTERM)
}
