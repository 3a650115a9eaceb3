package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/intake"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testWanted: a delivery counts once, what is wanted is open until it is settled as often as it was asked for, and nothing asked meanwhile is lost.
func testWanted(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	want := store.Want{Subject: store.Subject("github.com/octo/demo", 7, 0), Repo: "github.com/octo/demo", PR: 7, Priority: 3, Key: "github.com/5"}
	deliver := func(guid string, first bool, wants ...store.Want) {
		t.Helper()
		if got, err := s.Deliver(ctx, store.Delivery{GUID: guid, Event: "pull_request", Action: "opened"}, wants...); err != nil || got != first {
			t.Fatalf("%s: %v, %v; want %v", guid, got, err, first)
		}
	}
	find := func() store.Wanted {
		t.Helper()
		w, err := s.Wanted(ctx, want.Subject)
		must(t, err)
		return w
	}
	due := func(n int) {
		t.Helper()
		if all, err := s.Due(ctx, 10); err != nil || len(all) != n {
			t.Fatalf("%+v are due, %v; want %d", all, err, n)
		}
	}
	if _, err := s.Wanted(ctx, want.Subject); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nothing was wanted: %v", err)
	}
	deliver("a", true, want)
	deliver("a", false, want)
	deliver("b", true)
	if w := find(); w.Asked != 1 || !w.Open() || w.Priority != 3 || w.PR != 7 {
		t.Errorf("%+v", w)
	}
	due(1)
	must(t, s.Queued(ctx, want.Subject))
	due(0)
	if all, err := s.InQueue(ctx); err != nil || len(all) != 1 || all[0] != want.Subject {
		t.Errorf("%v stand in the queue, %v", all, err)
	}
	if w := find(); w.Begun {
		t.Error("what stands in the queue has begun")
	}
	if w, err := s.Begin(ctx, want.Subject); err != nil || w.Asked != 1 || !w.Open() || !w.Begun {
		t.Errorf("%+v, %v", w, err)
	}
	if all, err := s.InQueue(ctx); err != nil || len(all) != 1 {
		t.Errorf("%v have a task, %v; want the one that began", all, err)
	}
	due(0)
	urgent := want
	urgent.Priority, urgent.Anew = 1, true
	deliver("c", true, urgent) // while it is worked on
	if w := find(); w.Begun {
		t.Error("who is at work on it knows of what was asked for since")
	}
	due(1)
	must(t, s.Queued(ctx, want.Subject))
	must(t, s.Aside(ctx, want.Subject, time.Hour)) // the queue has a task that is at work on it
	due(0)
	deliver("d", true, want) // which is less urgent, and takes nothing back
	if w := find(); !w.Anew || w.Priority != 1 {
		t.Errorf("%+v", w)
	}
	must(t, s.Settle(ctx, want.Subject, 1, store.Settled{Outcome: "reviewed", Run: run1, Seen: "abc"}))
	if w := find(); w.Handled != 1 || !w.Open() || w.Priority != 1 || !w.Anew || w.Seen != "abc" || w.Run != run1 {
		t.Errorf("%+v", w)
	}
	must(t, s.Queued(ctx, want.Subject))
	must(t, s.Settle(ctx, want.Subject, 2, store.Settled{Outcome: "reviewed", Run: run1, Seen: "abc"})) // that it be anew was asked for by "c"
	if w := find(); w.Anew || !w.Open() {
		t.Errorf("%+v", w)
	}
	must(t, s.Postpone(ctx, want.Subject, time.Hour, store.Settled{Outcome: "failed", Why: "GitHub is down"}))
	due(0)
	if w := find(); w.Tries != 1 || w.Outcome != "failed" || !w.Open() {
		t.Errorf("%+v", w)
	}
	deliver("e", true, want) // a new push does not wait for the hour
	due(1)
	must(t, s.Queued(ctx, want.Subject))
	deliver("f", true, want) // while it waits: whoever begins with it sees to that too
	due(0)
	must(t, s.Aside(ctx, "of others", 0))
	if w, err := s.Begin(ctx, want.Subject); err != nil || w.Asked != 5 {
		t.Errorf("%+v, %v", w, err)
	}
	must(t, s.Requeue(ctx, want.Subject)) // the process that began with it is dead
	due(1)
	must(t, s.Settle(ctx, want.Subject, 5, store.Settled{Outcome: "nothing", Why: "it is closed"}))
	must(t, s.Settle(ctx, want.Subject, 3, store.Settled{Outcome: "late"})) // of a process that was stopped for a while
	due(0)
	if all, err := s.InQueue(ctx); err != nil || len(all) != 0 {
		t.Errorf("%v stand in the queue, %v", all, err)
	}
	if w := find(); w.Open() || w.Outcome != "nothing" || w.Anew || w.Tries != 0 {
		t.Errorf("%+v", w)
	}
	deliver("g", true, want)
	must(t, s.Queued(ctx, want.Subject))
	must(t, s.Postpone(ctx, want.Subject, time.Hour, store.Settled{Outcome: store.Waits})) // for a run in hand, which ends
	due(0)
	must(t, s.Hasten(ctx, want.Repo, want.PR))
	due(1)
	must(t, s.Settle(ctx, want.Subject, 6, store.Settled{Outcome: "nothing"}))
	if all, err := s.Deliveries(ctx, 10); err != nil || len(all) != 7 {
		t.Errorf("%d deliveries, %v", len(all), err)
	}
	if waiting, err := s.Waiting(ctx, nil, 10); err != nil || len(waiting) != 0 {
		t.Errorf("%+v wait, %v", waiting, err)
	}
	for _, row := range []struct {
		keys []review.RepoKey
		want int
	}{{nil, 1}, {[]review.RepoKey{"github.com/1", want.Key}, 1}, {[]review.RepoKey{"github.com/1"}, 0}, {[]review.RepoKey{""}, 0}, {[]review.RepoKey{}, 0}} {
		if seen, err := s.SeenTo(ctx, row.keys, 10); err != nil || len(seen) != row.want {
			t.Errorf("of %q %+v were seen to, %v", row.keys, seen, err)
		}
	}
	if n, err := s.ForgetDeliveries(ctx, time.Hour); err != nil || n != 0 {
		t.Errorf("forgot %d, %v", n, err)
	}
	if n, err := s.ForgetDeliveries(ctx, -time.Hour); err != nil || n != 7 {
		t.Errorf("forgot %d, %v", n, err)
	}
}

// testForgetComments: what became of comments is forgotten in time, and nothing else.
func testForgetComments(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	var subjects []string
	for _, comment := range []int64{0, 1, 2} {
		w := store.Want{Subject: store.Subject("github.com/octo/demo", 7, comment), Repo: "github.com/octo/demo", PR: 7, Comment: comment, Priority: 1}
		must(t, s.Want(ctx, w))
		if subjects = append(subjects, w.Subject); comment < 2 {
			must(t, s.Settle(ctx, w.Subject, 1, store.Settled{Outcome: "nothing"}))
		}
	}
	for _, row := range []struct {
		age  time.Duration
		left int
	}{{time.Hour, 3}, {-time.Hour, 2}} { // the pull request, and the comment that nobody has seen to
		must(t, s.ForgetComments(ctx, row.age))
		if all, err := s.WantedOf(ctx, "github.com/octo/demo"); err != nil || len(all) != row.left {
			t.Errorf("%+v of %v are left, %v", all, subjects, err)
		}
	}
}

// testSettleTime: what is asked for again within its settle time waits anew, and not for ever. What waits is not brought forward by what is patient, and what is asked
// for in the middle of a look does not wait with it.
func testSettleTime(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	w := store.Want{Subject: "x", Settle: time.Hour}
	due := func() time.Duration {
		t.Helper()
		must(t, s.Want(ctx, w))
		got, err := s.Wanted(ctx, "x")
		must(t, err)
		return got.Due.Sub(got.Since).Round(time.Minute)
	}
	if d := due(); d != time.Hour {
		t.Errorf("it waits for %v", d)
	}
	w.Settle = 0 // a person asks
	if d := due(); d != 0 {
		t.Errorf("it waits for %v", d)
	}
	w.Subject, w.Settle = "y", time.Hour
	must(t, s.Want(ctx, w))
	for range 3 {
		must(t, s.Want(context.WithoutCancel(ctx), w))
	}
	wait := store.Want{Subject: "z", Patient: true}
	must(t, s.Want(ctx, wait))
	must(t, s.Postpone(ctx, "z", time.Hour, store.Settled{Outcome: store.Waits}))
	for _, patient := range []bool{true, false} {
		wait.Patient = patient
		must(t, s.Want(ctx, wait))
		got, err := s.Wanted(ctx, "z")
		must(t, err)
		if waits := got.Due.Sub(got.Since) > time.Minute; waits != patient {
			t.Errorf("patient: %v, it waits for %v", patient, got.Due.Sub(got.Since))
		}
	}
	for _, outcome := range []string{store.Waits, "failed"} { // of a look that somebody asks anew in the middle of
		for _, patient := range []bool{true, false} {
			w := store.Want{Subject: fmt.Sprint(outcome, patient)}
			must(t, s.Want(ctx, w))
			must(t, s.Queued(ctx, w.Subject))
			begun, err := s.Begin(ctx, w.Subject)
			must(t, err)
			w.Patient = patient
			must(t, s.Want(ctx, w))
			must(t, s.Postpone(ctx, w.Subject, time.Hour, store.Settled{Outcome: outcome}))
			got, err := s.Wanted(ctx, w.Subject)
			must(t, err)
			if waits := got.Due.Sub(got.Since) > time.Minute; waits != patient || got.Asked != begun.Asked+1 || got.Begun {
				t.Errorf("%s, patient: %v, it waits for %v: %+v", outcome, patient, got.Due.Sub(got.Since), got)
			}
		}
	}
	got, err := s.Wanted(ctx, "y")
	must(t, err)
	if d := got.Due.Sub(got.Since); got.Asked != 4 || d < time.Hour || d > 4*time.Hour {
		t.Errorf("asked %d times, it waits for %v", got.Asked, d)
	}
}

// testNamesTakenOver: what became of a pull request is not told of another repository's that has the name now.
func testNamesTakenOver(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	want := store.Want{Subject: store.Subject("github.com/octo/demo", 7, 0), Repo: "github.com/octo/demo", PR: 7, Priority: 3, Key: "github.com/5"}
	became := store.Settled{Outcome: "converged", Why: "all is well", Run: "r", Seen: "as it was"}
	must(t, s.Want(ctx, want))
	must(t, s.Settle(ctx, want.Subject, 1, became))
	for _, step := range []struct {
		told, key review.RepoKey
		left      store.Settled
	}{{"github.com/5", "github.com/5", became}, {"", "github.com/5", became}, {"github.com/6", "github.com/6", store.Settled{}}} {
		want.Key = step.told
		must(t, s.Want(ctx, want))
		if w, err := s.Wanted(ctx, want.Subject); err != nil || w.Key != step.key || w.Settled != step.left {
			t.Errorf("told %q: %+v, %v", step.told, w, err)
		}
	}
}

// testSaid: who said something is kept until a look heard it, with whether a commit is looked at again (threats.md T496).
func testSaid(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	want := store.Want{Subject: store.Subject("github.com/octo/demo", 7, 0), Repo: "github.com/octo/demo", PR: 7, Priority: 3, Key: "github.com/5"}
	asks := func(anew bool, key review.RepoKey, people ...string) {
		for _, who := range people {
			w := want
			w.Anew, w.Said, w.Key = anew, who, key
			must(t, s.Want(ctx, w))
		}
	}
	keeps := func(anew bool, people ...string) (asked int64) {
		t.Helper()
		w, err := s.Wanted(ctx, want.Subject)
		if got := strings.Fields(w.Said); err != nil || w.Anew != anew || !slices.Equal(got, people) {
			t.Errorf("%q, anew %v, %v; want %q, %v", got, w.Anew, err, people, anew)
		}
		return w.Asked
	}
	settle := func(asked int64, unheard bool) {
		must(t, s.Settle(ctx, want.Subject, asked, store.Settled{Outcome: "some", Unheard: unheard}))
	}
	asks(true, want.Key, "mona", "lisa", "mona", "mon", "lisa")
	asks(false, want.Key, "")
	asked := keeps(true, "mona", "lisa", "mon")
	settle(asked, true)
	keeps(true, "mona", "lisa", "mon")
	asks(false, want.Key, "") // another event, of which nobody is heard
	asked = keeps(true, "mona", "lisa", "mon")
	asks(true, want.Key, "late") // while somebody looks
	settle(asked, false)
	asked = keeps(true, "mona", "lisa", "mon", "late")
	settle(asked, false)
	keeps(false)
	asks(false, want.Key, "")
	settle(keeps(false), true) // a look that failed, with nothing to hear
	asks(false, want.Key, "")
	keeps(false)
	asks(true, want.Key, "mona")
	asks(true, "github.com/6", "lisa") // another repository has the name
	settle(keeps(true, "lisa"), false)
	for i := range 200 {
		asks(true, want.Key, fmt.Sprintf("nobody-%03d", i))
	}
	asks(true, want.Key, "mona", intake.Member)
	if w, err := s.Wanted(ctx, want.Subject); err != nil || len(w.Said) > 1500 || !slices.Contains(strings.Fields(w.Said), intake.Member) {
		t.Errorf("of many %q are kept, %v", w.Said, err)
	}
}

// testNamesKnowNoCase: what is wanted is one thing however its repository is spelled, also what was recorded while names had case.
func testNamesKnowNoCase(t *testing.T, b Backend) {
	const folding = 24 // the migration
	address, ctx := b.New(t), t.Context()
	must(t, b.At(ctx, address, folding-1, func(db *sql.DB) error {
		for i, row := range [][]any{
			{"github.com/octo/demo#7", "github.com/octo/demo", "older"}, {"github.com/Octo/Demo#7", "github.com/Octo/Demo", "newer"}, {"github.com/OCTO/demo#7", "github.com/OCTO/demo", "oldest"},
			{"github.com/Octo/Demo#8", "github.com/Octo/Demo", "alone"},
		} {
			if _, err := db.ExecContext(ctx, `INSERT INTO wanted (subject, repo, pr, comment, priority, renewed, asked, queued, handled, since, due, tries, outcome, why, run, seen, updated, repo_key)
				VALUES ($1, $2, 7, 0, 3, 0, 1, 1, 1, 5, 5, 0, $3, '', '', '', $4, '')`, row[0], row[1], row[2], []int{5, 6, 4, 1}[i]); err != nil {
				return err
			}
		}
		for i, ask := range []string{"octo/demo#7/5.1", "Octo/Demo#7/5.1", "Octo/Demo#8/6.1"} {
			if _, err := db.ExecContext(ctx, `INSERT INTO asked (ask, run, created) VALUES ($1, $2, $3)`, ask, fmt.Sprint("run ", i), 9-i); err != nil {
				return err
			}
		}
		return nil
	}))
	s := open(t, address)
	all, err := s.WantedOf(ctx, "github.com/OCTO/DEMO")
	must(t, err)
	var got []string
	for _, w := range all {
		got = append(got, w.Subject+" "+w.Outcome)
	}
	if slices.Sort(got); !slices.Equal(got, []string{"github.com/octo/demo#7 newer", "github.com/octo/demo#8 alone"}) {
		t.Errorf("after the migration: %q", got)
	}
	for ask, want := range map[string]string{"octo/demo#7/5.1": "run 1", "octo/demo#8/6.1": "run 2"} {
		if run, err := s.Asked(ctx, ask); err != nil || run != want {
			t.Errorf("%s: %q, %v; want %s", ask, run, err, want)
		}
	}
	for _, name := range []string{"github.com/octo/demo", "github.com/Octo/Demo"} {
		must(t, s.Want(ctx, store.Want{Subject: store.Subject(name, 9, 0), Repo: name, PR: 9, Priority: 3}))
	}
	subject := store.Subject("github.com/OCTO/demo", 9, 0)
	if w, err := s.Begin(ctx, subject); err != nil || w.Asked != 2 {
		t.Errorf("asked for in two spellings: %+v, %v", w, err)
	}
	must(t, s.Postpone(ctx, subject, time.Hour, store.Settled{Outcome: store.Waits}))
	must(t, s.Hasten(ctx, "github.com/Octo/DEMO", 9))
	if due, err := s.Due(ctx, 10); err != nil || len(due) != 1 || due[0].Subject != subject {
		t.Errorf("hastened in another spelling: %+v, %v", due, err)
	}
}

// testTurns: an author has so many turns a day, however many processes take them at once; a subject has its last one again, and no older one.
func testTurns(t *testing.T, b Backend) {
	address, ctx := b.New(t), t.Context()
	if now := time.Now().UTC(); now.Add(5*time.Minute).Day() != now.Day() {
		t.Skip("a new day begins in a moment, with new turns")
	}
	const most, tries = 5, 8
	waits := make(chan time.Duration, 2*tries)
	var wg sync.WaitGroup
	for p := range 2 {
		s := open(t, address)
		wg.Go(func() {
			for n := range tries {
				wait, err := s.TakeTurn(ctx, "github.com/mona", fmt.Sprint(p), fmt.Sprint(n), most)
				if err != nil {
					t.Error(err)
				}
				waits <- wait
			}
		})
	}
	wg.Wait()
	close(waits)
	taken := 0
	for wait := range waits {
		if wait == 0 {
			taken++
		} else if wait < 0 || wait > 24*time.Hour {
			t.Errorf("the next day comes in %v", wait)
		}
	}
	if taken != most {
		t.Errorf("%d turns were taken, want %d", taken, most)
	}
	s := open(t, address)
	take := func(author, subject, about string, most int, free bool) {
		t.Helper()
		if wait, err := s.TakeTurn(ctx, author, subject, about, most); err != nil || (wait == 0) != free {
			t.Errorf("%s %s %s: %v, %v", author, subject, about, wait, err)
		}
	}
	take("github.com/hubot", "a_b", "x", 1, true)
	take("github.com/hubot", "a_b", "x", 1, true)
	take("github.com/hubot", "a_b", "y", 1, false)
	must(t, s.ForgetTurns(ctx)) // those of today stay
	take("github.com/hubot", "a_b", "y", 1, false)
	take("github.com/hubot", "a-b", "x", 2, true)
	take("github.com/hubot", "a_b", "x", 2, true)
	take("github.com/hubot", "a_b", "y", 3, true)
	take("github.com/hubot", "a_b", "x", 3, false) // what is as it was once is about something else than the last time
}
