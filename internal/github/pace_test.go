package github

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// oneList keeps places as a database does.
type oneList struct {
	made []time.Time
	err  error
	of   string
}

func (l *oneList) Places(_ context.Context, account string, choose func([]time.Time) []time.Time) error {
	l.of = account
	if l.err == nil {
		l.made = choose(l.made)
	}
	return l.err
}

// Processes that share places keep the bounds together, by one clock; where it is not known how much there is, nothing has a place.
func TestProcessesShareABound(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l, github := &oneList{}, func() time.Time { return began.Add(20 * time.Minute) }
	who := func() (string, error) { return "github.com/mona", nil }
	processes := []*pace{{places: l, clock: github}, {places: l, clock: github}}
	var at []time.Time
	for n := range 2 * createdInHour {
		got, err := processes[n%2].place(t.Context(), strconv.Itoa(n), began, who)
		if err != nil || l.of != "github.com/mona" {
			t.Fatalf("%v for %q", err, l.of)
		}
		at = append(at, got)
	}
	for _, bound := range []struct {
		most   int
		within time.Duration
	}{{createdInMinute, time.Minute}, {createdInHour, time.Hour}} {
		for n := bound.most; n < len(at); n++ {
			if gap := at[n].Sub(at[n-bound.most]); gap < bound.within {
				t.Fatalf("place %d comes %s after the %dth before it", n, gap, bound.most)
			}
		}
	}
	if !at[0].Equal(began) || at[len(at)-1].Sub(began) > 2*time.Hour {
		t.Errorf("the first place is %s after the beginning, the last %s", at[0].Sub(began), at[len(at)-1].Sub(began))
	}
	next, err := processes[0].place(t.Context(), "y", began, who)
	back := began.Add(-3 * time.Hour) // of a machine whose clock was set back
	after, other := processes[1].place(t.Context(), "z", back, who)
	if err != nil || other != nil || after.Sub(back)-next.Sub(began) > time.Minute {
		t.Errorf("one waits %s, the other, whose clock was set back, %s: %v, %v", next.Sub(began), after.Sub(back), err, other)
	}
	l.err = errors.New("gone")
	if _, err := processes[0].place(t.Context(), "x", began, who); !errors.Is(err, l.err) {
		t.Errorf("without the count: %v", err)
	}
}

// GitHub's clock goes on from its last answer, whatever this machine's says.
func TestGitHubsClockGoesOn(t *testing.T) {
	l := &limits{}
	if got := time.Since(l.now()); got.Abs() > time.Minute {
		t.Errorf("before an answer it is off by %s", got)
	}
	said := time.Now().Add(-5 * time.Hour).UTC().Truncate(time.Second)
	l.date(http.Header{"Date": {said.Format(http.TimeFormat)}})
	l.heard = l.heard.Add(-10 * time.Minute)
	if got := l.now().Sub(said); got < 10*time.Minute || got > 11*time.Minute {
		t.Errorf("ten minutes after an answer it is %s later", got)
	}
}
