package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/internal/testkit/traffic"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/review"
)

var (
	replayAll  = flag.Bool("replay", false, "replay all recorded pull requests instead of a sample")
	replaySeed = flag.Uint64("replayseed", 0, "draw what a replay does from this seed again; 0 draws a new one")
)

func TestMain(m *testing.M) {
	status := m.Run()
	postgres.Stop()
	os.Exit(status)
}

const replaySecret = "known to both sides"

// A replay sends what happened on recorded pull requests to a daemon: in a bubble by hand, otherwise through a socket.
type replay struct {
	*world
	t      *testing.T
	repos  []string
	opts   Options
	bubble bool

	at     sync.Mutex
	server *Daemon
	// take takes a delivery, and gives the status it is answered with; 0 when nobody answers.
	take func(letter) int
	stop func()
	guid int
}

// recorded are the pull requests of a replay: all, or a sample by the seed.
func recorded(t *testing.T, sample int) (pulls []traffic.Pull, seed uint64) {
	if seed = *replaySeed; seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("go test ./internal/daemon -run '%s$' -replayseed %d%s draws the same again", t.Name(), seed, map[bool]string{true: " -replay"}[*replayAll])
	pulls = traffic.All()
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a sample of a test
	rng.Shuffle(len(pulls), func(i, j int) { pulls[i], pulls[j] = pulls[j], pulls[i] })
	if !*replayAll {
		pulls = pulls[:sample]
	}
	return pulls, seed
}

// startReplay makes a world on a database of its own, and serves so many repositories of it. In a bubble no time is lost by waiting: the clock goes on
// once nothing is left to be done. That needs a database in this process.
func startReplay(t *testing.T, o app.Options, bubble bool, seed uint64, repos int, every time.Duration) *replay {
	t.Helper()
	s, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	r := &replay{world: newWorld(t, s, seed), t: t, bubble: bubble}
	r.opts = Options{
		Secrets: []string{replaySecret}, Every: every, Reviews: 32, Host: "github.com", Order: func(bool) (app.Order, error) { return app.Order{}, nil },
		Lasting: func(error) bool { return false },
	}
	if bubble {
		r.opts.Reviews = 256
	}
	for i := range repos {
		name := fmt.Sprintf("r%d", i)
		r.repos = append(r.repos, name)
		r.opts.Serves = append(r.opts.Serves, review.Repo{Host: "github.com", Owner: "acme", Name: name})
	}
	r.begin()
	t.Cleanup(r.end)
	for _, repo := range r.opts.Serves { // comments of before that are nobody's to answer
		r.wait("the repositories to be served", func() bool { note, _ := r.server.noted(t.Context(), noteOf(repo)); return !note.IsZero() })
	}
	return r
}

// begin starts a process that serves, so to speak.
func (r *replay) begin() {
	o := r.opts
	if !r.bubble {
		var err error
		if o.Listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			r.t.Fatal(err)
		}
	}
	r.with(func() (*Daemon, error) {
		return build(context.Background(), r.world, func(context.Context, review.Repo) (hub, error) { return r.world, nil }, o)
	}, func(d *Daemon) { d.held, d.asking = 50*time.Millisecond, 1<<40 }) // all repositories each time
}

// with begins a daemon that is built and set so.
func (r *replay) with(build func() (*Daemon, error), set func(*Daemon)) *Daemon {
	d, err := build()
	if err != nil {
		r.t.Fatal(err)
	}
	set(d)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	r.at.Lock()
	defer r.at.Unlock()
	r.server = d
	if r.bubble {
		h, err := webhook.New(webhook.Options{Secrets: d.Secrets, Take: d.take})
		if err != nil {
			r.t.Fatal(err)
		}
		r.take = func(l letter) int {
			answer := httptest.NewRecorder()
			h.ServeHTTP(answer, l.post("/webhook"))
			return answer.Code
		}
	} else {
		url := "http://" + d.Listen.Addr().String() + "/webhook"
		r.take = func(l letter) int {
			resp, err := http.DefaultClient.Do(l.post(url))
			if err != nil {
				return 0
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
			return resp.StatusCode
		}
	}
	r.stop = sync.OnceFunc(func() {
		r.at.Lock()
		r.take = func(letter) int { return 0 }
		r.at.Unlock()
		cancel()
		if err := <-ended; err != nil {
			r.t.Errorf("the daemon ended: %v", err)
		}
	})
	return d
}

// end stops it, and interrupts what it is at.
func (r *replay) end() {
	r.at.Lock()
	stop := r.stop
	r.at.Unlock()
	stop()
}

// patience is how long anything of a replay may take: a machine may be under load, and a whole replay is.
const patience = 8 * time.Minute

func (r *replay) wait(what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Errorf("after %v still waiting for %s", patience, what)
			return
		}
	}
}

// A letter is a delivery.
type letter struct {
	traffic.Event
	guid, name string
	body       []byte
	// open and draft are how the pull request was; forged is true for what is signed by somebody who does not know the secret.
	open, draft, forged bool
}

// write makes the delivery of something that just happened.
func (r *replay) write(p *pull, e traffic.Event) letter {
	r.at.Lock()
	r.guid++
	l := letter{Event: e, guid: fmt.Sprintf("%08d-replay", r.guid)}
	r.at.Unlock()
	l.name, l.body = r.payload(p, e)
	r.mu.Lock()
	defer r.mu.Unlock()
	l.open, l.draft = p.is.State == "OPEN", p.is.Draft
	return l
}

// post is the letter as it is posted.
func (l letter) post(url string) *http.Request {
	q, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(l.body))
	if err != nil {
		panic(err)
	}
	secret := replaySecret
	if l.forged {
		secret = "a guess"
	}
	mac := webhook.Sign(secret, l.body)
	q.Header = http.Header{"Content-Type": {"application/json"}, "X-Github-Event": {l.name}, "X-Github-Delivery": {l.guid}, "X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(mac[:])}}
	return q
}

// send delivers a letter; where nobody answers, once somebody does.
func (r *replay) send(l letter) {
	r.wait("a delivery to be taken", func() bool {
		r.at.Lock()
		take := r.take
		r.at.Unlock()
		status := take(l)
		if status != 0 && status != http.StatusAccepted && status != http.StatusServiceUnavailable {
			r.t.Errorf("%s %s is answered with %d", l.name, l.Kind, status)
		}
		return status == http.StatusAccepted
	})
}

// forge sends what nobody signed, who knows the secret: the same, or that the pull request is closed.
func (r *replay) forge(l letter, rng *rand.Rand) {
	l.guid += "-forged"
	if rng.IntN(2) == 0 {
		l.body = bytes.ReplaceAll(l.body, []byte(`"open"`), []byte(`"closed"`))
	}
	l.forged = true
	r.at.Lock()
	take := r.take
	r.at.Unlock()
	if status := take(l); status != 0 && status != http.StatusUnauthorized {
		r.t.Errorf("a forged %s is answered with %d", l.name, status)
	}
}

// subjects are what is, or was, wanted of a pull request: itself by "", and its comments by their numbers.
func (r *replay) subjects(p *pull) map[string]store.Wanted {
	all, err := r.Record().WantedOf(context.Background(), "github.com/acme/"+p.repo)
	if err != nil {
		r.t.Error(err)
	}
	of := map[string]store.Wanted{}
	for _, w := range all {
		if w.PR == p.number {
			_, comment, _ := strings.Cut(w.Subject, fmt.Sprintf("#%d/", p.number))
			of[comment] = w
		}
	}
	return of
}

// settle waits until nothing is wanted of a pull request.
func (r *replay) settle(p *pull) {
	r.wait(key(p.repo, p.number)+" to be seen to", func() bool {
		for _, w := range r.subjects(p) {
			if w.Open() {
				return false
			}
		}
		return true
	})
}

// each does fn for all pull requests, some at a time.
func (r *replay) each(pulls []traffic.Pull, seed uint64, fn func(p traffic.Pull, repo string, number int, rng *rand.Rand)) {
	room := make(chan struct{}, r.opts.Reviews)
	var wg sync.WaitGroup
	for i, p := range pulls {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			fn(p, r.repos[i%len(r.repos)], i+1, rand.New(rand.NewPCG(seed, uint64(i)+2))) //nolint:gosec // moments of a test
		})
	}
	wg.Wait()
}

// What becomes of recorded pull requests, when each delivery is seen to before the next, is what the model says: the same runs on the same commits in the
// same order, each comment answered once. Of the deliveries some come twice, some late, in another order, and some never;
// forged ones do nothing.
func TestReplayInSteps(t *testing.T) {
	t.Parallel()
	pulls, seed := recorded(t, 16)
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		steps(t, startReplay(t, app.Options{State: state}, true, seed, max(len(pulls)/8, 1), time.Hour), pulls, seed)
	})
}

func steps(t *testing.T, r *replay, pulls []traffic.Pull, seed uint64) {
	type pair struct {
		*pull
		*model
	}
	all := make([]pair, len(pulls))
	var deliveries, lost, late, doubled, forged int
	var mu sync.Mutex
	count := func(n *int) { mu.Lock(); defer mu.Unlock(); *n++ }
	r.each(pulls, seed, func(rec traffic.Pull, repo string, number int, rng *rand.Rand) {
		p, m := r.open(rec, repo, number), newModel(rec)
		all[number-1] = pair{p, m}
		var held, sent []letter
		deliver := func(l letter) {
			count(&deliveries)
			r.send(l)
			m.told(l.Event, l.open, l.draft)
			r.settle(p)
			sent = append(sent, l)
		}
		for i, e := range append([]traffic.Event{{Kind: opened, By: rec.Author, Bot: rec.Bot}}, rec.Events...) {
			if i > 0 {
				r.happens(p, e)
				m.happens(e)
			}
			l := r.write(p, e)
			if rng.IntN(5) == 0 {
				count(&forged)
				r.forge(l, rng)
			}
			switch draw := rng.IntN(10); {
			case draw == 0:
				count(&lost)
			case draw == 1:
				count(&late)
				held = append(held, l)
			default:
				deliver(l)
			}
			if rng.IntN(6) == 0 && len(sent) > 0 { // one that was taken comes again, which changes nothing
				count(&doubled)
				r.send(sent[rng.IntN(len(sent))])
			}
			for len(held) > 0 && rng.IntN(4) == 0 {
				i := rng.IntN(len(held))
				deliver(held[i])
				held = slices.Delete(held, i, i+1)
			}
		}
		rng.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		for _, l := range held {
			deliver(l)
		}
	})
	if _, err := r.server.reconcileAll(t.Context(), r.server.most()); err != nil {
		t.Fatal(err)
	}
	runs, answers := 0, 0
	for _, at := range all {
		p, m := at.pull, at.model
		m.reconciled()
		r.settle(p)
		var heads []string
		for _, run := range r.runsOf(p) {
			if run.outcome != review.Converged {
				t.Errorf("#%d: the run %s ended as %q", p.number, run.id, run.outcome)
			}
			heads = append(heads, run.head)
		}
		slices.Sort(m.runs[m.before:]) // comments are found in no order
		slices.Sort(heads[min(m.before, len(heads)):])
		if !slices.Equal(heads, m.runs) {
			t.Errorf("#%d: %d runs at %.7s, want %d at %.7s", p.number, len(heads), heads, len(m.runs), m.runs)
		}
		if !maps.Equal(p.answers, m.answers) {
			t.Errorf("#%d: answered %v, want %v", p.number, p.answers, m.answers)
		}
		runs, answers = runs+len(heads), answers+len(m.answers)
		if w, looked := r.subjects(p)[""]; looked != (m.last != "") || looked && !m.says(w) {
			t.Errorf("#%d: it ends as %q (%s), want %q", p.number, w.Outcome, w.Why, m.last)
		} else if looked && p.is.State == "MERGED" && !r.merges[key(p.repo, p.number)] {
			t.Errorf("#%d: nobody asked what became of its findings by the merge", p.number)
		}
	}
	t.Logf("%d pull requests, %d deliveries, %d lost, %d late, %d sent again, %d forged; %d reviews, %d answers", len(all), deliveries, lost, late, doubled, forged, runs, answers)
}

// What becomes of recorded pull requests whose deliveries come as fast as they can, in any order, twice or never, to a process that is ended and
// started again meanwhile: each that can be reviewed is in the end, as it is then; no commit is reviewed oftener than there was reason to; no two runs
// are at work on one pull request; each comment is answered once; nothing is left open.
func TestReplayStorm(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		pulls, seed := recorded(t, 24)
		state := t.TempDir()
		synctest.Test(t, func(t *testing.T) { storm(t, app.Options{State: state}, true, pulls, seed) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		pulls, seed := recorded(t, 12)
		storm(t, app.Options{State: t.TempDir(), Database: postgres.New(t)}, false, pulls, seed)
	})
}

func storm(t *testing.T, o app.Options, bubble bool, recorded []traffic.Pull, seed uint64) {
	r := startReplay(t, o, bubble, seed, max(len(recorded)/8, 1), 300*time.Millisecond)
	between := max(150, 10*len(recorded)) // deliveries from one end of the process to the next
	all := make([]*pull, len(recorded))
	var restarts sync.Mutex
	restarted, taken := 0, 0
	// restart ends the process and starts another one, every so many deliveries.
	restart := func() {
		restarts.Lock()
		defer restarts.Unlock()
		if taken++; taken%between == 0 {
			r.end()
			r.begin()
			restarted++
		}
	}
	var deliveries, lost, doubled int
	var mu sync.Mutex
	count := func(n *int) { mu.Lock(); defer mu.Unlock(); *n++ }
	r.each(recorded, seed, func(rec traffic.Pull, repo string, number int, rng *rand.Rand) {
		p := r.open(rec, repo, number)
		all[number-1] = p
		var flight sync.WaitGroup
		defer flight.Wait()
		for i, e := range append([]traffic.Event{{Kind: opened, By: rec.Author, Bot: rec.Bot}}, rec.Events...) {
			if i > 0 {
				r.happens(p, e)
			}
			l := r.write(p, e)
			times := []int{0, 1, 1, 1, 1, 1, 1, 2, 2, 3}[rng.IntN(10)]
			count(&deliveries)
			if times == 0 {
				count(&lost)
			}
			for range times {
				wait := time.Duration(rng.IntN(100)) * time.Millisecond
				flight.Go(func() {
					time.Sleep(wait)
					r.send(l)
					restart()
				})
			}
			if times > 1 {
				count(&doubled)
			}
			if rng.IntN(4) == 0 { // so that not only the end of it is seen
				flight.Wait()
				r.settle(p)
			}
		}
	})
	r.end()
	r.begin() // which asks for what nobody was told of
	for _, p := range all {
		r.wait(key(p.repo, p.number)+" to be as it should", func() bool { return len(r.amiss(p)) == 0 })
		r.settle(p)
	}
	r.end()
	runs := 0
	for _, p := range all {
		for _, what := range append(r.amiss(p), r.tooMuch(p)...) {
			t.Errorf("%s: %s", key(p.repo, p.number), what)
		}
		runs += len(r.runsOf(p))
	}
	left, err := r.Record().ListRuns(t.Context(), store.Filter{State: store.Running})
	if err != nil || len(left) > 0 {
		t.Errorf("left running: %+v, %v", left, err)
	}
	t.Logf("%d pull requests, %d deliveries, %d lost, %d sent again, %d ends of the process; %d runs", len(all), deliveries, lost, doubled, restarted, runs)
}

// amiss says what is missing of a pull request.
func (r *replay) amiss(p *pull) (all []string) {
	runs := r.runsOf(p)
	_, looked := r.subjects(p)[""]
	r.mu.Lock()
	defer r.mu.Unlock()
	newest := 0
	for _, run := range runs {
		if run.outcome == review.Converged && run.head == p.is.HeadSHA {
			newest = max(newest, run.began)
		}
		if run.outcome == "" {
			all = append(all, "the run "+run.id+" has not ended")
		}
	}
	if open := p.is.State == "OPEN"; open && !p.is.Draft {
		if newest == 0 {
			all = append(all, "it is not reviewed")
		} else if n := len(p.verdict); n > 0 && newest < p.verdict[n-1] {
			all = append(all, "its verdict is from before the last review of a person")
		}
		for _, c := range p.thread {
			if word := c.Body; word != wordThanks && !c.Author.Bot && mayWrite(c.Author.Login) && p.answers[fmt.Sprint(c.DatabaseID)] == 0 && p.alwaysOpen() {
				all = append(all, fmt.Sprintf("the comment %d is not answered", c.DatabaseID))
			}
		}
	}
	if looked && p.is.State == "MERGED" && !r.merges[key(p.repo, p.number)] {
		all = append(all, "nobody asked what became of its findings by the merge")
	}
	return all
}

// alwaysOpen reports whether a pull request was never closed: comments on one that is are not answered.
func (p *pull) alwaysOpen() bool {
	return !slices.ContainsFunc(p.Events, func(e traffic.Event) bool { return e.Kind == traffic.Close })
}

// tooMuch says what was done to a pull request that there was no reason for.
func (r *replay) tooMuch(p *pull) (all []string) {
	runs := r.runsOf(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	at, superseded := map[string]int{}, 0
	for _, run := range runs {
		switch {
		case run.ask != "":
		case run.outcome == review.Superseded:
			superseded++
		default:
			at[run.head]++
		}
	}
	for head, n := range at {
		reasons := 1
		for _, when := range p.verdict {
			if when > p.since[head] {
				reasons++
			}
		}
		if n > reasons {
			all = append(all, fmt.Sprintf("%d reviews at %.7s, for %d reasons: verdicts at %v, head since %d", n, head, reasons, p.verdict, p.since[head]))
			for _, run := range runs {
				all = append(all, fmt.Sprintf("  run %s at %.7s began at %d, went on %d times, ended at %d: %s", run.id, run.head, run.began, run.resumed-1, run.finishedAt, run.outcome))
			}
		}
	}
	if superseded > p.moved {
		all = append(all, fmt.Sprintf("%d runs were overtaken by %d changes", superseded, p.moved))
	}
	for id, n := range p.answers {
		if n != 1 {
			all = append(all, fmt.Sprintf("the comment %s is answered %d times", id, n))
		}
	}
	return all
}
