package daemon

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/traffic"
	"github.com/prloop/prloop/review"
)

var scaleReport = flag.String("scale", "", "simulate an organisation's load and write the table into this `file`, such as docs/scale.md")

// What Cloudflare published of 30 days in 2026 of its own reviews.
const (
	publishedRuns    = 131_246
	publishedRepos   = 5_169
	publishedMedian  = 3*time.Minute + 39*time.Second
	publishedDollars = 0.98
)

// What is assumed beside.
const (
	// workingDays are those of the 30, and busiest is the part of a day's runs in its busiest hour.
	workingDays, busiest = 21.4, 0.12
	// spread is the sigma of the logarithms of times and dollars.
	spread = 0.6
	// ofReview are the requests to GitHub of a review beside those of the server (docs/performance.md), and created those that create content.
	ofReview, created = 9, 1
	// alive is for how long the recorded sequences are followed.
	alive = 24 * time.Hour
)

// A simulation is an hour of an organisation's traffic, after a while in which it gets going, by a clock of its own. Front, queue, rules, limits and
// record are the real ones; GitHub is played, and so is a review: it takes its time and its dollars.
type simulation struct {
	*world
	rng     *rand.Rand
	repos   []review.Repo
	settle  time.Duration
	counted bool

	tally sync.Mutex
	// turns are when what led to the last review of a pull request was asked for.
	turns   map[string]time.Time
	delays  []time.Duration
	busy    time.Duration
	runs    int
	dollars float64
	asked   int
	// held is how long the last comment has to wait for its place.
	held time.Duration
}

func (s *simulation) count(requests int) {
	s.tally.Lock()
	defer s.tally.Unlock()
	if s.counted {
		s.asked += requests
	}
}

// What GitHub is asked, counted.

func (s *simulation) PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	s.count(1)
	return s.world.PullRequest(ctx, repo, number)
}

func (s *simulation) Comment(ctx context.Context, pr review.PullRequest, id int64) (review.Comment, error) {
	s.count(1)
	return s.world.Comment(ctx, pr, id)
}

func (s *simulation) OpenPulls(ctx context.Context, repo review.Repo) ([]review.PullRequest, error) {
	s.count(1)
	return s.world.OpenPulls(ctx, repo)
}

func (s *simulation) NewComments(ctx context.Context, repo review.Repo, since time.Time) ([]github.NumberedComment, time.Time, error) {
	s.count(1)
	return s.world.NewComments(ctx, repo, since)
}

func (s *simulation) Clock() time.Time { return time.Now() }

func (s *simulation) Installed(context.Context, string) ([]review.Repo, error) {
	s.count((len(s.repos) + 99) / 100)
	return slices.Clone(s.repos), nil
}

// What is reviewed and unfinished is asked of the record, as always.

func (s *simulation) Reviewed(ctx context.Context, pr review.PullRequest) (intake.Known, error) {
	return reviewed(ctx, s.Record(), pr)
}

func (s *simulation) Once(ctx context.Context, o app.Order, _ string, _ func(review.Event)) (app.Ended, error) {
	return s.review(ctx, o.Target)
}

func (s *simulation) RunAsked(ctx context.Context, o app.Order, a app.Ask, _ func(review.Event)) (app.Ended, error) {
	ended, err := s.review(ctx, o.Target)
	if err == nil {
		s.answer(o.Target, a)
	}
	return ended, err
}

func (s *simulation) review(ctx context.Context, target review.Target) (app.Ended, error) {
	s.mu.Lock()
	p, err := s.find(target.Repo, target.PR)
	if err != nil {
		s.mu.Unlock()
		return app.Ended{}, err
	}
	s.now++
	id, head, asked := fmt.Sprintf("20260101T000000Z_%016x", s.now), p.is.HeadSHA, ""
	lasts, dollars := math.Exp(spread*s.rng.NormFloat64()), math.Exp(spread*s.rng.NormFloat64())
	s.mu.Unlock()
	w, err := s.Record().Wanted(ctx, store.Subject(fullName(target.Repo), target.PR, 0))
	if err != nil {
		asked = "by comment"
	}
	took := time.Duration(float64(publishedMedian) * lasts)
	s.tally.Lock()
	if s.counted {
		if asked == "" && !s.turns[w.Subject].Equal(w.Since) { // the next one of the same turn waited for the first
			s.delays = append(s.delays, max(time.Since(w.Since)-s.settle, 0))
		}
		s.runs++
		s.busy += took
		s.dollars += publishedDollars * dollars
		s.asked += ofReview
	}
	s.turns[w.Subject] = w.Since
	s.tally.Unlock()
	ended := app.Ended{Result: review.RunResult{Run: id, Receipt: review.Receipt{HeadSHA: head}, Outcome: review.Converged, Reason: "nothing to fix"}}
	lease, err := s.Record().Take(ctx, target.String(), id, took+time.Hour)
	if err != nil {
		return ended, err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }()
	if err := s.Record().CreateRun(ctx, store.Run{ID: id, Target: target, RepoKey: target.Repo.Key(p.is.RepoID), Head: head}); err != nil {
		return ended, err
	}
	select {
	case <-ctx.Done():
		return ended, context.Cause(ctx)
	case <-time.After(took):
	}
	if err := s.comment(ctx); err != nil {
		return ended, err
	}
	s.mu.Lock()
	if p.is.HeadSHA != head || p.is.State != "OPEN" {
		ended.Result.Outcome, ended.Result.Reason = review.Superseded, "the pull request is another one"
	}
	s.mu.Unlock()
	return ended, s.Record().FinishRun(ctx, ended.Result)
}

// comment takes the place of a review's comment among what the account may create. The review does not wait for it.
func (s *simulation) comment(ctx context.Context) error {
	return s.Record().Places(ctx, "github.com/prloop[bot]", func(made []time.Time) []time.Time {
		now := time.Now()
		made, at := github.NextPlace(now, made)
		s.tally.Lock()
		defer s.tally.Unlock()
		s.held = at.Sub(now)
		return made
	})
}

// A figure is what one simulation comes to.
type figure struct {
	load                   float64
	reviews                int
	runs, deliveries, asks int
	// needed is how many reviews were under way on average; p50 and p95 are of the time from when a review might have begun to when it did.
	needed        float64
	p50, p95      time.Duration
	waiting       int
	bytes, perRun int64
	dollars       float64
	// unposted are the comments that wait at the end for what GitHub lets one account create, and held is how long the last of them waits.
	unposted int
	held     time.Duration
}

// runsOf is how many reviews the rules ask for of a recorded pull request.
func runsOf(p traffic.Pull) int {
	m := newModel(p)
	m.told(traffic.Event{Kind: opened}, true, p.Draft)
	for _, e := range p.Events {
		if e.After > alive {
			break
		}
		m.happens(e)
		m.told(e, m.open, m.draft)
	}
	return len(m.runs)
}

// simulate lets pull requests come as often as the runs of so many times the published load need, with so many reviews at a time.
func simulate(t *testing.T, state string, load float64, reviews int, warm, window time.Duration) (f figure) {
	recorded := traffic.All()
	total := 0
	for _, p := range recorded {
		total += runsOf(p)
	}
	perHour := load * publishedRuns / workingDays * busiest / (float64(total) / float64(len(recorded))) // pull requests
	synctest.Test(t, func(t *testing.T) {
		svc, err := app.Open(t.Context(), app.Options{State: state})
		if err != nil {
			t.Fatal(err)
		}
		defer svc.Close(context.WithoutCancel(t.Context()))
		const settle = 10 * time.Second
		s := &simulation{world: newWorld(t, svc, 1), rng: rand.New(rand.NewPCG(1, 2)), settle: settle, turns: map[string]time.Time{}} //nolint:gosec // a simulation
		for i := range publishedRepos {
			s.repos = append(s.repos, review.Repo{Host: "github.com", Owner: "acme", Name: fmt.Sprintf("r%d", i)})
		}
		o := Options{
			Secrets: []string{replaySecret}, Serves: Served{{Host: "github.com", Owner: "acme"}}, Every: 5 * time.Minute, Reviews: reviews, Settle: settle, Host: "github.com",
			Order: func(bool) (app.Order, error) { return app.Order{}, nil }, Lasting: func(error) bool { return false },
		}
		r := &replay{world: s.world, t: t, bubble: true, opts: o}
		d := r.with(func() (*Daemon, error) {
			return build(t.Context(), s, func(context.Context, review.Repo) (hub, error) { return s, nil }, o)
		}, func(d *Daemon) { d.tick, d.poll = time.Second, time.Second })
		began := time.Now()
		end := began.Add(warm + window)
		// Pull requests are opened evenly from a day before to the end. What happened to them before the beginning is known, and was reviewed.
		n := int(perHour * (alive + warm + window).Hours())
		var wg sync.WaitGroup
		for i := range n {
			rec := recorded[s.rng.IntN(len(recorded))]
			at := began.Add(-alive).Add(time.Duration(s.rng.Float64() * float64(alive+warm+window)))
			repo := s.repos[int(float64(len(s.repos))*math.Pow(s.rng.Float64(), 3))].Name // few have most
			events := slices.Clone(rec.Events)
			p := s.open(rec, repo, i+1)
			for len(events) > 0 && at.Add(events[0].After).Before(began) {
				s.happens(p, events[0])
				events = events[1:]
			}
			if at.Before(began) && p.is.State == "OPEN" && !p.is.Draft {
				id := fmt.Sprintf("20250101T000000Z_%016x", i)
				if err := s.Record().CreateRun(t.Context(), store.Run{ID: id, Target: review.Target{Repo: p.is.Repo, PR: p.number}, RepoKey: p.is.Repo.Key(p.is.RepoID), Head: p.is.HeadSHA}); err != nil {
					t.Fatal(err)
				}
				if err := s.Record().FinishRun(t.Context(), review.RunResult{Run: id, Outcome: review.Converged, Receipt: review.Receipt{HeadSHA: p.is.HeadSHA}}); err != nil {
					t.Fatal(err)
				}
			}
			wg.Go(func() {
				tell := func(e traffic.Event, when time.Time) {
					r.send(r.write(p, e))
					s.tally.Lock()
					defer s.tally.Unlock()
					if s.counted {
						f.deliveries++
					}
				}
				if !at.Before(began) {
					time.Sleep(time.Until(at))
					tell(traffic.Event{Kind: opened, By: rec.Author, Bot: rec.Bot}, at)
				}
				for _, e := range events {
					when := at.Add(e.After)
					if e.After > alive || when.After(end) {
						return
					}
					time.Sleep(time.Until(when))
					s.happens(p, e)
					tell(e, when)
				}
			})
		}
		size := func() int64 { return sizeOf(filepath.Join(state, "prloop.db")) }
		time.Sleep(time.Until(began.Add(warm)))
		before := size()
		s.tally.Lock()
		s.counted = true
		s.tally.Unlock()
		time.Sleep(time.Until(end))
		s.tally.Lock()
		s.counted = false
		s.tally.Unlock()
		f.bytes = size() - before
		accounts, err := s.Record().Created(t.Context())
		if err != nil || len(accounts) != 1 {
			t.Fatalf("created: %+v, %v", accounts, err)
		}
		f.unposted = accounts[0].Waiting
		s.tally.Lock()
		f.held = s.held
		s.tally.Unlock()
		waiting, err := d.record.Waiting(t.Context(), nil, 1<<20)
		if err != nil {
			t.Error(err)
		}
		wg.Wait()
		r.end()
		f.load, f.reviews, f.runs, f.asks, f.dollars = load, reviews, s.runs, s.asked, s.dollars
		f.needed = s.busy.Hours() / window.Hours()
		f.waiting = max(len(waiting)-reviews, 0)
		slices.Sort(s.delays)
		if n := len(s.delays); n > 0 {
			f.p50, f.p95, f.perRun = s.delays[n/2], s.delays[n*95/100], f.bytes/int64(n)
		}
		for _, of := range []*int{&f.runs, &f.deliveries, &f.asks} {
			*of = int(float64(*of) / window.Hours())
		}
	})
	return f
}

// sizeOf is how large a SQLite file is with what its log holds.
func sizeOf(path string) (n int64) {
	for _, name := range []string{path, path + "-wal"} {
		if fi, err := os.Stat(name); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// An organisation's traffic is seen to by the real queue on a clock of its own: with too few reviews at a time what waits piles up, with enough it does
// not. With -scale the table of docs/scale.md is written.
func TestScale(t *testing.T) {
	t.Parallel()
	if *scaleReport == "" {
		few := simulate(t, t.TempDir(), 0.1, 2, 2*time.Minute, 12*time.Minute)
		enough := simulate(t, t.TempDir(), 0.1, 32, 2*time.Minute, 12*time.Minute)
		if few.runs == 0 || enough.runs <= few.runs || few.p95 <= enough.p95 || few.waiting <= enough.waiting || enough.p95 > time.Minute {
			t.Errorf("with 2 at a time %+v, with 32 %+v", few, enough)
		}
		return
	}
	var table strings.Builder
	table.WriteString("| times the load | reviews at a time | reviews/h | under way | delay median | delay p95 | waiting at the end | deliveries/h | requests/h | comments unposted at the end | the last of them waits | dollars/h | record, bytes a review |\n")
	table.WriteString("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, row := range []struct {
		load, reviews int
		window        time.Duration
	}{{1, 40, 40 * time.Minute}, {1, 64, 40 * time.Minute}, {1, 96, 40 * time.Minute}, {10, 640, 10 * time.Minute}, {10, 960, 10 * time.Minute}} {
		f := simulate(t, t.TempDir(), float64(row.load), row.reviews, 10*time.Minute, row.window)
		line := fmt.Sprintf("| %g | %d | %d | %.0f | %s | %s | %d | %d | %d | %d | %s | %.0f | %d |\n", f.load, f.reviews, f.runs, f.needed, f.p50.Round(time.Second), f.p95.Round(time.Second),
			f.waiting, f.deliveries, f.asks, f.unposted, f.held.Round(time.Second), f.dollars/row.window.Hours(), f.perRun)
		t.Log(line)
		table.WriteString(line)
	}
	section(t, *scaleReport, "simulation", table.String())
}

// section writes a part of a file that begins and ends with comments of a name.
func section(t *testing.T, file, name, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no section %q", file, cmp.Or(name, "?"))
	}
	if err := os.WriteFile(file, []byte(head+begin+text+end+tail), 0o600); err != nil {
		t.Fatal(err)
	}
}
