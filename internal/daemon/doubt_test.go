package daemon

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/review"
)

// doubting takes back what it is asked to, but at first.
type doubting struct {
	runs
	mu    sync.Mutex
	asked map[int]int
}

func (w *doubting) NotYet(_ context.Context, pr review.PullRequest, _ bool) error {
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
	d := &Daemon{service: w, doubted: make(chan struct{}, 1), doubts: map[string]review.PullRequest{}, held: time.Millisecond}
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
	d := &Daemon{service: w, doubted: make(chan struct{}, 1), doubts: map[string]review.PullRequest{}, held: time.Millisecond}
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

// anyPull has any pull request.
type anyPull struct{ hub }

func (anyPull) PullRequest(_ context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	return review.PullRequest{Repo: repo, Number: number}, nil
}
