package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/queue"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/traffic"
	"github.com/prloop/prloop/review"
)

// inBubble serves a world on SQLite by a clock of the test's own, until fn returns: the clock goes on once nothing is left to be done, and what waits
// an hour takes a second or two. begin is the time of day at which it begins, every how often the queues are looked at.
func inBubble(t *testing.T, o Options, begin, every time.Duration, fn func(t *testing.T, w *world, d *Daemon)) {
	t.Helper()
	state := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(begin)
		s, err := app.Open(t.Context(), app.Options{State: state})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close(context.WithoutCancel(t.Context()))
		w := newWorld(t, s, 1)
		o.Host, o.Order, o.Lasting = "github.com", func(bool) (app.Order, error) { return app.Order{}, nil }, func(error) bool { return false }
		d, err := build(t.Context(), w, func(context.Context, review.Repo) (hub, error) { return w, nil }, o)
		if err != nil {
			t.Fatal(err)
		}
		d.tick, d.poll = every, every
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- d.Run(ctx) }()
		fn(t, w, d)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// In quiet hours nothing begins that nobody asked for, and an author has so many reviews a day. What waits says why, and begins when it may.
func TestWhenReviewsBegin(t *testing.T) {
	t.Parallel()
	quiet, err := intake.ParseHours("22:00-23:10")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Every: 100 * time.Hour, Reviews: 4, Rules: intake.Rules{Quiet: quiet, PerAuthor: 2}, Serves: Served{{Host: "github.com", Owner: "acme", Name: "r0"}}}
	inBubble(t, o, 23*time.Hour, 20*time.Second, func(t *testing.T, w *world, d *Daemon) {
		began := time.Now()
		at := func(minutes time.Duration) { time.Sleep(time.Until(began.Add(minutes * time.Minute))) }
		var pulls []*pull
		open := func(author string, priority uint) {
			n := len(pulls) + 1
			pulls = append(pulls, w.open(traffic.Pull{Author: author, Head: fmt.Sprintf("%040x", n)}, "r0", n))
			if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, intake.Look{PR: n, Priority: priority})); err != nil {
				t.Fatal(err)
			}
		}
		// is holds how many reviews of mona's and hubot's there were, and why what waits does.
		is := func(when string, mona, hubot int, waits ...string) {
			t.Helper()
			had := map[string]int{}
			for _, p := range pulls {
				had[p.Author] += len(w.runsOf(p))
			}
			st, err := queue.Read(t.Context(), d.record, nil, nil, 10)
			if err != nil || had["mona"] != mona || had["hubot"] != hubot || len(st.Waiting) != len(waits) {
				t.Fatalf("%s: %v were reviewed and %d wait, want %d, %d and %d; %v", when, had, len(st.Waiting), mona, hubot, len(waits), err)
			}
			for i, why := range waits {
				if item := st.Waiting[i]; item.Outcome != store.Waits || !strings.Contains(item.Waits(), why) {
					t.Errorf("%s: %s waits: %q, want %q", when, item.What, item.Waits(), why)
				}
			}
		}
		at(1)
		for range 3 {
			open("mona", intake.First)
		}
		at(3)
		is("at night", 0, 0, "quiet hours", "quiet hours", "quiet hours")
		open("mona", intake.Command)
		at(5)
		is("at night, when somebody asks", 1, 0, "quiet hours", "quiet hours", "quiet hours")
		at(15)
		is("in the morning", 3, 0, "mona has had 2 reviews today")
		open("hubot", intake.First)
		w.happens(pulls[3], traffic.Event{Kind: traffic.Push, Commit: strings.Repeat("a", 40)})
		if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, intake.Look{PR: 4, Priority: intake.Again})); err != nil {
			t.Fatal(err)
		}
		at(59)
		is("by day", 3, 1, "mona has had 2", "mona has had 2")
		at(65)
		is("the next day", 5, 1)
		open("lisa", intake.First)
		for minute := range time.Duration(3) { // whoever settles a thread of hers takes no turn of hers
			at(70 + minute)
			if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, intake.Look{PR: 6, Priority: intake.Again, Anew: true})); err != nil {
				t.Fatal(err)
			}
		}
		at(75)
		open("lisa", intake.First)
		at(80)
		if hers, next := len(w.runsOf(pulls[5])), len(w.runsOf(pulls[6])); hers != 4 || next != 1 {
			t.Errorf("lisa's pull requests were looked at %d and %d times, want 4 and 1", hers, next)
		}
	})
}

// Whoever says something in a thread whenever the base branch has moved uses up no turn of the author's, and has agents asked no more often than those
// (threats.md T470).
func TestAMovedBaseTakesNoTurnOfTheAuthor(t *testing.T) {
	t.Parallel()
	o := Options{Every: 100 * time.Hour, Reviews: 4, Rules: intake.Rules{PerAuthor: 3}, Serves: Served{{Host: "github.com", Owner: "acme", Name: "r0"}}}
	inBubble(t, o, 9*time.Hour, 5*time.Second, func(t *testing.T, w *world, d *Daemon) {
		p := w.open(traffic.Pull{Author: "mona", Head: fmt.Sprintf("%040x", 1)}, "r0", 1)
		asks := func(l intake.Look, runs int, why string) {
			t.Helper()
			l.PR = 1
			if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, l)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			st, err := queue.Read(t.Context(), d.record, nil, nil, 10)
			if err != nil || len(w.runsOf(p)) != runs || len(st.Waiting) != min(len(why), 1) || why != "" && !strings.Contains(st.Waiting[0].Waits(), why) {
				t.Fatalf("%d runs, %+v waits, %v; want %d and %q", len(w.runsOf(p)), st.Waiting, err, runs, why)
			}
		}
		reply, push := intake.Look{Priority: intake.Again, Anew: true}, intake.Look{Priority: intake.Again}
		asks(intake.Look{Priority: intake.First}, 1, "")
		for commit, why := range []string{"", "", "0000000 was reviewed for 3 commits of its base branch today"} {
			w.moveBase(p, fmt.Sprintf("%040x", 10+commit))
			asks(reply, min(2+commit, 3), why)
		}
		for commit, runs := range []int{4, 5} {
			w.happens(p, traffic.Event{Kind: traffic.Push, Commit: fmt.Sprintf("%040x", 2+commit)})
			asks(push, runs, "")
		}
		w.happens(p, traffic.Event{Kind: traffic.Push, Commit: fmt.Sprintf("%040x", 4)})
		asks(push, 5, "mona has had 3 reviews today")
	})
}

// Whoever says something in threads all the time has a verdict computed anew a dozen times at once and every ten minutes after that; a new commit is
// looked at at once (threats.md T380).
func TestACommitIsNotLookedAtAllTheTime(t *testing.T) {
	t.Parallel()
	o := Options{Every: 100 * time.Hour, Reviews: 4, Serves: Served{{Host: "github.com", Owner: "acme", Name: "r0"}}}
	inBubble(t, o, 9*time.Hour, 5*time.Second, func(t *testing.T, w *world, d *Daemon) {
		w.lately = true
		p := w.open(traffic.Pull{Author: "mona", Head: fmt.Sprintf("%040x", 1)}, "r0", 1)
		asks := func(l intake.Look) {
			l.PR = 1
			if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, l)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		asks(intake.Look{Priority: intake.First})
		for hour, most := range []int{1 + 16, 23} {
			for range 60 {
				asks(intake.Look{Priority: intake.Again, Anew: true})
			}
			if n := len(w.runsOf(p)); n > most || n < most-2 {
				t.Errorf("%d runs after %d hours, want %d", n, hour+1, most)
			}
		}
		before := len(w.runsOf(p))
		asks(intake.Look{Priority: intake.Said, Anew: true})
		w.happens(p, traffic.Event{Kind: traffic.Push, Commit: strings.Repeat("a", 40)})
		asks(intake.Look{Priority: intake.Again})
		if n := len(w.runsOf(p)) - before; n != 2 {
			t.Errorf("%d runs for what a member said and for a push", n)
		}
		time.Sleep(15 * time.Minute)
		if st, err := queue.Read(t.Context(), d.record, nil, nil, 10); err != nil || len(st.Waiting) != 0 {
			t.Errorf("%+v waits, %v", st.Waiting, err)
		}
	})
}

// What is to be said anew for the labels of the gate waits for the end of quiet hours, and no success stands until then (threats.md T860).
func TestLabelsInQuietHours(t *testing.T) {
	t.Parallel()
	quiet, err := intake.ParseHours("22:00-23:10")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Every: 100 * time.Hour, Reviews: 1, Rules: intake.Rules{Quiet: quiet}, Serves: Served{{Host: "github.com", Owner: "acme", Name: "r0"}}}
	inBubble(t, o, 21*time.Hour, 20*time.Second, func(t *testing.T, w *world, d *Daemon) {
		p := w.open(traffic.Pull{Author: "mona", Head: fmt.Sprintf("%040x", 1)}, "r0", 1)
		is := func(when string, runs int, takenBack bool) {
			t.Helper()
			if err := d.record.Want(t.Context(), d.want(review.Repo{Host: "github.com", Owner: "acme", Name: "r0"}, intake.Look{PR: 1, Priority: intake.Again})); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute)
			n := len(w.runsOf(p))
			w.mu.Lock()
			defer w.mu.Unlock()
			if n != runs || (w.takenBack > 0) != takenBack {
				t.Errorf("%s: %d runs, a success was taken back %d times", when, n, w.takenBack)
			}
		}
		is("at first", 1, false)
		is("another label", 1, false)
		time.Sleep(time.Hour)
		w.mu.Lock()
		w.relabelled = true
		w.mu.Unlock()
		is("in quiet hours", 1, true)
		time.Sleep(70 * time.Minute)
		is("after them", 3, true)
	})
}

// What may not begin yet is not looked at all the time, however short its wait is: each look asks GitHub (threats.md T468).
func TestAShortWaitIsNoLoop(t *testing.T) {
	t.Parallel()
	d := napping(t, app.Options{State: t.TempDir()}, time.Hour, 1, nil)
	wantMany(t, d, 1, 1)
	due, err := d.record.Due(t.Context(), 1)
	if err != nil || len(due) != 1 {
		t.Fatal(due, err)
	}
	for _, wait := range []time.Duration{-time.Hour, 0, time.Microsecond} {
		if err := d.settle(t.Context(), due[0], store.Settled{}, laterError{wait: wait, why: "quiet hours"}); err != nil {
			t.Fatal(err)
		}
		if due, err := d.record.Due(t.Context(), 1); err != nil || len(due) != 0 {
			t.Errorf("after a wait of %s: %+v is due, %v", wait, due, err)
		}
	}
}
