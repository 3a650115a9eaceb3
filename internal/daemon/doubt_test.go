package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// doubting takes back what it is asked to, but at first.
type doubting struct {
	runs
	mu    sync.Mutex
	asked map[int]int
}

func (w *doubting) NotYet(_ context.Context, pr review.PullRequest, _, _ bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked[pr.Number]++; w.asked[pr.Number] == 1 && pr.Number%100 == 0 {
		return errors.New("HTTP 502")
	}
	return nil
}

func (w *doubting) done() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for pr, asked := range w.asked {
		if asked > 1 || pr%100 != 0 {
			n++
		}
	}
	return n
}

// However many pull requests are in doubt at once, each is seen to, and again where that failed (threats.md T412).
func TestNoDoubtIsLost(t *testing.T) {
	w := &doubting{asked: map[int]int{}}
	d := &Daemon{service: w, record: emptyRecord(t), doubted: make(chan struct{}, 1), doubts: map[string]review.PullRequest{}, held: time.Millisecond}
	d.Log, d.Lasting = hclog.NewNullLogger(), func(error) bool { return false }
	d.github = func(context.Context, review.Repo) (hub, error) { return anyPull{}, nil }
	const many = 1000
	for n := range many {
		d.doubt(review.PullRequest{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, Number: n + 1})
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); d.recant(ctx) }()
	for end := time.Now().Add(10 * time.Second); w.done() < many && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-ended
	if n := w.done(); n != many {
		t.Errorf("%d of %d were seen to", n, many)
	}
}

// A repository about which GitHub does not answer keeps no success of another one standing, and its own doubts are seen to once it does (threats.md T472).
func TestOneRepositoryKeepsNoOtherInDoubt(t *testing.T) {
	w := &doubting{asked: map[int]int{}}
	d := &Daemon{service: w, record: emptyRecord(t), doubted: make(chan struct{}, 1), doubts: map[string]review.PullRequest{}, held: time.Millisecond}
	d.Log = hclog.NewNullLogger()
	answers := make(chan struct{})
	d.github = func(_ context.Context, r review.Repo) (hub, error) {
		if r.Name == "silent" {
			<-answers
		}
		return anyPull{}, nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); d.recant(ctx) }()
	doubt := func(name string, number int) {
		d.doubt(review.PullRequest{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: name}, Number: number})
	}
	doubt("silent", 1)
	doubt("silent", 2)
	for n := 11; n < 15; n++ {
		doubt("widgets", n)
		until(t, "the other repository", func() bool { return w.done() == n-10 })
	}
	doubt("silent", 3)
	close(answers)
	until(t, "the silent one", func() bool { return w.done() == 7 })
	stop()
	<-ended
}

// emptyRecord is a record of nothing.
func emptyRecord(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// anyPull has any pull request.
type anyPull struct{ hub }

func (anyPull) PullRequest(_ context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	return review.PullRequest{Repo: repo, Number: number}, nil
}

// oneListed is a hub that lists one pull request.
type oneListed struct {
	*world
	listed review.PullRequest
}

func (l oneListed) OpenPulls(context.Context, review.Repo) ([]review.PullRequest, error) {
	return []review.PullRequest{l.listed}, nil
}

// What a list names is checked also where it is as it was seen: its commit may have become a success since (threats.md T463).
func TestWhatIsAsItWasIsCheckedToo(t *testing.T) {
	s, err := app.Open(t.Context(), app.Options{State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(t.Context()))
	repo := review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}
	w := oneListed{world: newWorld(t, s, 1), listed: review.PullRequest{Repo: repo, Number: 7, State: "OPEN", HeadSHA: "abc", BaseRef: "main"}}
	d, err := build(t.Context(), w.world, func(context.Context, review.Repo) (hub, error) { return w, nil }, Options{Host: "github.com"})
	if err != nil {
		t.Fatal(err)
	}
	d.service = suspects{w.world}
	subject := store.Subject(fullName(repo), 7, 0)
	err = errors.Join(d.record.Want(t.Context(), store.Want{Subject: subject, Repo: fullName(repo), PR: 7}), d.record.Settle(t.Context(), subject, 1, store.Settled{Seen: intake.See(w.listed).String()}))
	if err = errors.Join(err, d.reconcileOne(t.Context(), repo)); err != nil || len(d.doubts) != 1 {
		t.Errorf("%v, %v", d.doubts, err)
	}
	if is, err := d.record.Wanted(t.Context(), subject); err != nil || is.Open() {
		t.Errorf("it is looked at again: %+v, %v", is, err)
	}
}

// suspects has every pull request in doubt.
type suspects struct{ *world }

func (suspects) InDoubt(context.Context, review.PullRequest, bool) (bool, error) { return true, nil }
