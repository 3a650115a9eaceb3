package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/webhook"
	"github.com/prloop/prloop/review"
)

// asked counts how often GitHub is asked about each repository; those in broken do not answer.
type asked struct {
	hub
	times  map[string]int
	broken map[string]bool
}

func (a asked) OpenPulls(_ context.Context, r review.Repo) ([]review.PullRequest, error) {
	a.times[r.Name]++
	if a.broken[r.Name] {
		return nil, errors.New("there is no such repository")
	}
	return nil, nil
}

// GitHub is asked about no more repositories in an hour than an account may ask for, each in its turn. Those that do not answer, or that were asked
// about before the process began, keep nobody else waiting.
func TestRepositoriesTakeTurns(t *testing.T) {
	s, err := app.Open(t.Context(), app.Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(t.Context()))
	w := newWorld(t, s, 1)
	a := asked{w, map[string]int{}, map[string]bool{"r1": true, "r2": true, "r3": true}}
	o := Options{Every: time.Minute, Host: "github.com"}
	for i := range 12 {
		o.Serves = append(o.Serves, review.Repo{Host: "github.com", Owner: "acme", Name: fmt.Sprintf("r%d", i)})
	}
	serve := func() *Daemon {
		d, err := build(t.Context(), w, func(context.Context, review.Repo) (hub, error) { return a, nil }, o)
		if err != nil {
			t.Fatal(err)
		}
		d.asking = 4 * 60 // four a minute
		return d
	}
	d := serve()
	for round := 1; round <= 6; round++ {
		_, _ = d.reconcileAll(t.Context(), d.most()) // some do not answer
		sum := 0
		for _, n := range a.times {
			sum += n
		}
		if sum != 4*round {
			t.Fatalf("asked about %d repositories in %d rounds: %v", sum, round, a.times)
		}
		if round%3 == 0 {
			for _, r := range o.Serves {
				if n := a.times[r.Name]; n != round/3 {
					t.Errorf("after %d rounds %s was asked about %d times", round, r.Name, n)
				}
			}
		}
	}
	clear(a.times)
	a.broken["r1"], a.broken["r2"], a.broken["r3"] = false, false, false
	d = serve()
	_, _ = d.reconcileAll(t.Context(), d.most()) // another process begins with those that never answered
	if a.times["r1"]+a.times["r2"]+a.times["r3"] != 3 {
		t.Errorf("another process asks about %v first", a.times)
	}
	d.asking = 12 * 60
	if all, err := d.turn(t.Context(), o.Serves, d.most()); err != nil || len(all) != 12 {
		t.Errorf("%d of 12, %v", len(all), err)
	}
}

// counted counts how often GitHub is asked about repositories.
type counted struct {
	hub
	asked *atomic.Int64
}

func (c counted) OpenPulls(context.Context, review.Repo) ([]review.PullRequest, error) {
	c.asked.Add(1)
	return nil, nil
}

// Whoever changes an installation again and again has GitHub asked about no more repositories than an interval has room for, of an account that is not
// served about none; and a first change has what is new asked about at once (threats.md T471).
func TestInstallationsThatChangeAllTheTime(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := app.Open(t.Context(), app.Options{State: state})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.WithoutCancel(t.Context()))
		w := newWorld(t, s, 1)
		c := counted{w, &atomic.Int64{}}
		o := Options{Every: time.Hour, Host: "github.com", Serves: Served{{Host: "github.com", Owner: "acme", Name: "widgets"}}}
		d, err := build(t.Context(), w, func(context.Context, review.Repo) (hub, error) { return c, nil }, o)
		if err != nil {
			t.Fatal(err)
		}
		d.asking = 10
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); d.reconcile(ctx) }()
		changes := func(account string, n, want int) {
			t.Helper()
			for range n {
				body := fmt.Sprintf(`{"action":"created","installation":{"account":{"login":%q}}}`, account)
				if err := d.take(t.Context(), webhook.Delivery{GUID: rand.Text(), Event: "installation", Body: []byte(body)}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				time.Sleep(time.Second)
			}
			if n := int(c.asked.Load()); n != want {
				t.Errorf("%s: GitHub was asked about the repository %d times, want %d", account, n, want)
			}
		}
		synctest.Wait()
		changes("stranger", 40, 1)
		changes("Acme", 1, 2)
		changes("acme", 40, 5) // a list of repositories counts as one
		time.Sleep(time.Hour)
		changes("acme", 40, 10)
		stop()
		<-ended
	})
}

// flood has more comments than are read at once.
type flood struct {
	hub
	until time.Time
	since []time.Time
}

func (f *flood) OpenPulls(context.Context, review.Repo) ([]review.PullRequest, error) {
	return nil, nil
}

func (f *flood) NewComments(_ context.Context, _ review.Repo, since time.Time) ([]github.NumberedComment, time.Time, error) {
	f.since = append(f.since, since)
	return nil, f.until, nil
}

// Where there are more new comments than are read at once, the next look goes on where this one ended, and the one after the last is about what is new then.
func TestCommentsAreReadOn(t *testing.T) {
	s, err := app.Open(t.Context(), app.Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(t.Context()))
	repo := review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
	w := newWorld(t, s, 1)
	f := &flood{hub: w}
	d, err := build(t.Context(), w, func(context.Context, review.Repo) (hub, error) { return f, nil }, Options{Every: time.Minute, Host: "github.com", Serves: Served{repo}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now().UTC().Truncate(time.Second)
	for name, at := range map[string]time.Time{noteOf(repo): began.Add(-20 * time.Hour), firstOf(repo): began.Add(-48 * time.Hour)} {
		if err := d.record.SetNote(t.Context(), name, at.Format(time.RFC3339)); err != nil {
			t.Fatal(err)
		}
	}
	want := []time.Time{began.Add(-20*time.Hour - overlap)}
	for _, until := range []time.Time{began.Add(-10 * time.Hour), began.Add(-time.Second), {}} {
		f.until = until
		if _, err := d.reconcileAll(t.Context(), d.most()); err != nil {
			t.Fatal(err)
		}
		want = append(want, until)
	}
	if _, err := d.reconcileAll(t.Context(), d.most()); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(f.since[:3], want[:3], time.Time.Equal) || f.since[3].Before(began.Add(-overlap)) {
		t.Errorf("comments were asked for since %v", f.since)
	}
}
