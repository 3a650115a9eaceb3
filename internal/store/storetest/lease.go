package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/review"
)

func testLease(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	s, other := open(t, address), open(t, address)
	first, err := s.Lease(ctx, pull, run1, time.Hour)
	if err != nil || b.Token(first) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	var held *store.HeldError
	if _, err := other.Lease(ctx, pull, run2, time.Hour); !errors.As(err, &held) || held.Key != pull || held.Run != run1 ||
		held.Until.Sub(held.Since).Truncate(time.Second) != time.Hour { // two readings of one clock
		t.Errorf("another run: %v", err)
	}
	if l, err := other.Lease(ctx, pull+"8", run2, time.Hour); err != nil || b.Token(l) != 1 {
		t.Errorf("another pull request: %+v, %v", l, err)
	}
	if err := errors.Join(first.Check(ctx), first.Renew(ctx), first.Check(ctx)); err != nil {
		t.Errorf("in time: %v", err)
	}
	must(t, create(ctx, s, run1))
	for i, nonce := range []string{"n1", "n2"} {
		_, err := intend(ctx, s, run1, nonce, i+1)
		must(t, err)
	}
	must(t, s.Sending(ctx, "n1", first))

	again, err := other.Lease(ctx, pull, run1, time.Hour) // the run, resumed
	if err != nil || b.Token(again) != 2 {
		t.Fatalf("the run again: %+v, %v", again, err)
	}
	for what, err := range map[string]error{"check": first.Check(ctx), "renew": first.Renew(ctx), "sending": s.Sending(ctx, "n2", first), "sending under both": s.Sending(ctx, "n2", again, first)} {
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("%s by the process before: %v, want ErrStale", what, err)
		}
	}
	if all, err := s.Outbox(ctx, run1); err != nil || len(all) != 2 || all[1].State != store.StateIntent || all[1].Attempts != 0 {
		t.Errorf("outbox: %+v, %v; want that nothing of the refused was recorded", all, err)
	}
	if err := first.Release(ctx); err != nil || again.Check(ctx) != nil {
		t.Errorf("a stale release: %v, then %v", err, again.Check(ctx))
	}
	must(t, s.Sending(ctx, "n2", again))
	if err := again.Release(ctx); err != nil || !errors.Is(again.Check(ctx), store.ErrStale) {
		t.Errorf("released: %v", err)
	}
	if l, err := s.Lease(ctx, pull, run2, time.Hour); err != nil || b.Token(l) != 3 {
		t.Errorf("after a release: %+v, %v", l, err)
	}
}

func testLeaseRunsOut(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	s, other := open(t, address), open(t, address)
	const ttl = 300 * time.Millisecond
	kept, err := s.Lease(ctx, "kept", run1, time.Hour)
	must(t, err)
	lost, err := s.Lease(ctx, "lost", run1, ttl)
	must(t, err)
	next := wait(t, other, "lost", run2)
	if b.Token(next) != 2 {
		t.Errorf("token %d after the first", b.Token(next))
	}
	for what, err := range map[string]error{"check": lost.Check(ctx), "renew": lost.Renew(ctx)} {
		if !errors.Is(err, store.ErrStale) {
			t.Errorf("%s of a lease that ran out: %v", what, err)
		}
	}
	if _, err := other.Lease(ctx, "kept", run2, ttl); !errors.As(err, new(*store.HeldError)) || kept.Check(ctx) != nil {
		t.Errorf("one with time left: %v", err)
	}
}

// wait takes a lease as soon as it is free.
func wait(t *testing.T, s *store.Store, key, run string) (l *store.Lease) {
	t.Helper()
	eventually.True(t, key+" to be free", func() bool {
		var err error
		l, err = s.Take(t.Context(), key, run, time.Hour)
		if err != nil && !errors.As(err, new(*store.HeldError)) {
			t.Error(err)
		}
		return err == nil
	})
	return l
}

// testWhatIsNewest: of two runs on a pull request, and of two effects on a commit, the one that was recorded last is the newest, however wrong the clocks of the
// machines are that record them (threats.md T315).
func testWhatIsNewest(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	for i, wrong := range []time.Duration{3 * time.Hour, 0, -3 * time.Hour} {
		s := open(t, address)
		b.Wall(s, func() time.Time { return time.Now().Add(wrong) })
		run := fmt.Sprintf("r%d", i)
		must(t, s.CreateRun(ctx, store.Run{ID: run, Target: target, Head: "abc"}))
		_, err := s.Intent(ctx, effects.Effect{Kind: "status", Key: run, Nonce: run, Run: run, Target: target, Head: "abc", Payload: "x"})
		must(t, err)
		if runs, err := s.ListRuns(ctx, store.Filter{}); err != nil || len(runs) != i+1 || runs[0].ID != run {
			t.Errorf("%s: the newest run is %+v, %v", wrong, runs, err)
		}
		if newest, err := s.Newest(ctx, "status"); err != nil || len(newest) != 1 || newest[0].Nonce != run {
			t.Errorf("%s: the newest effect is %+v, %v", wrong, newest, err)
		}
	}

	s := open(t, address)
	for i, name := range []string{strings.ToUpper(target.Repo.Name), target.Repo.Name + "2"} { // the same repository, and another
		other, run := target, "in "+name
		other.Repo.Name, other.PR = name, target.PR+10*i
		must(t, s.CreateRun(ctx, store.Run{ID: run, Target: other, Head: "abc"}))
		_, err := s.Intent(ctx, effects.Effect{Kind: "status", Key: run, Nonce: run, Run: run, Target: other, Head: "abc", Payload: "x"})
		must(t, err)
		if newest, err := s.Newest(ctx, "status"); err != nil || len(newest) != i+1 || newest[i].Nonce != run {
			t.Errorf("%s: the newest effects are %+v, %v", run, newest, err)
		}
	}
}

// testWhatIsNewestUnderAnotherName: so it is of a repository that was renamed in between (threats.md T315).
func testWhatIsNewestUnderAnotherName(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	key := target.Repo.Key(1)
	for i, name := range []string{"widgets", "gears"} {
		wrong, renamed := -time.Duration(i)*time.Hour, target
		renamed.Repo.Name = name
		b.Wall(s, func() time.Time { return time.Now().Add(wrong) })
		must(t, s.CreateRun(ctx, store.Run{ID: name, RepoKey: key, Target: renamed, Head: "abc"}))
	}
	if runs, err := s.ListRuns(ctx, store.Filter{Keys: []review.RepoKey{key}, PR: target.PR}); err != nil || len(runs) != 2 || runs[0].ID != "gears" {
		t.Errorf("the newest of %+v, %v", runs, err)
	}
}

// testClocksDiffer: machines whose clocks are hours apart agree on who has a lease, and for how long (threats.md T96).
func testClocksDiffer(t *testing.T, b Backend) {
	for _, row := range [][2]time.Duration{{0, 5 * time.Hour}, {5 * time.Hour, 0}, {-12 * time.Hour, 12 * time.Hour}, {12 * time.Hour, -12 * time.Hour}} {
		t.Run(fmt.Sprint(row), func(t *testing.T) {
			ctx, address := t.Context(), b.New(t)
			var s [2]*store.Store
			for i := range s {
				s[i] = open(t, address)
				b.Wall(s[i], func() time.Time { return time.Now().Add(row[i]) })
			}
			long, err := s[0].Lease(ctx, "long", run1, time.Minute)
			must(t, err)
			var held *store.HeldError
			if _, err := s[1].Lease(ctx, "long", run2, time.Minute); !errors.As(err, &held) {
				t.Errorf("another run on another machine: %v, want that it is held", err)
			}
			if err := errors.Join(long.Renew(ctx), long.Check(ctx)); err != nil {
				t.Errorf("the owner: %v", err)
			}
			short, err := s[0].Lease(ctx, "short", run1, 100*time.Millisecond)
			must(t, err)
			wait(t, s[1], "short", run2)
			if err := short.Check(ctx); !errors.Is(err, store.ErrStale) {
				t.Errorf("the owner of what has passed on: %v", err)
			}
		})
	}
}

// queue is one of the processes of testClocksOfProcessesDiffer: three takers in it want the lease.
func queue(ctx context.Context, h Hooks, s *store.Store, name string) error {
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		wg.Go(func() { errs[i] = takeTurn(ctx, h, s, fmt.Sprintf("%s-%d", name, i)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// takeTurn waits for the lease, does something that two at once cannot do, and gives it back.
func takeTurn(ctx context.Context, h Hooks, s *store.Store, run string) error {
	for {
		l, err := s.Lease(ctx, pull, run, time.Minute)
		if errors.As(err, new(*store.HeldError)) {
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		before, err := s.Spending(ctx, "inside")
		if err != nil {
			return err
		}
		after := before
		after.Tokens++
		if err := s.SaveSpending(ctx, "inside", after); err != nil {
			return err
		}
		fmt.Printf("%s %d\n", run, h.Token(l))
		return errors.Join(l.Check(ctx), l.Release(ctx))
	}
}

// testClocksOfProcessesDiffer: takers in processes whose clocks are hours apart have the lease one at a time, and the token rises by
// one with each (threats.md P10).
func testClocksOfProcessesDiffer(t *testing.T, b Backend) {
	address := b.New(t)
	s := open(t, address)
	var mu sync.Mutex
	tokens := map[int]string{}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			out, err := process(t.Context(), "queue", address, "p"+strconv.Itoa(i), time.Duration(i-2)*7*time.Hour, nil)
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for line := range strings.Lines(out) {
				run, number, _ := strings.Cut(strings.TrimSpace(line), " ")
				n, err := strconv.Atoi(number)
				if err != nil || tokens[n] != "" {
					t.Errorf("%s has token %q, which %s had", run, number, tokens[n])
				}
				tokens[n] = run
			}
		})
	}
	wg.Wait()
	for n := 1; n <= 12; n++ {
		if tokens[n] == "" {
			t.Errorf("nobody had token %d of 12", n)
		}
	}
	if sum, err := s.Spending(t.Context(), "inside"); err != nil || sum.Tokens != 12 {
		t.Errorf("%d of 12 were inside alone, %v", sum.Tokens, err)
	}
}

// deadOwnerTTL is the time of a lease whose owner is killed: no test waits for it to run out, or every one does.
func deadOwnerTTL(tells string) time.Duration {
	if tells == "true" {
		return time.Hour
	}
	return 2 * time.Second
}

// testDeadOwner: what a living process works on is its own; what a killed one left is free, at once or in time.
func testDeadOwner(t *testing.T, b Backend) {
	address := b.New(t)
	s := open(t, address)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	taken, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		_, err := process(ctx, "hold", address, strconv.FormatBool(b.TellsTheDead), 0, func(line string) { taken <- line })
		ended <- err
	}()
	select {
	case <-taken:
	case err := <-ended:
		t.Fatal(err)
	}
	if b.TellsTheDead {
		var held *store.HeldError
		if _, err := s.Take(t.Context(), pull, run2, time.Minute); !errors.As(err, &held) || held.Run != run1 {
			t.Errorf("what a living process has: %v", err)
		}
		if _, err := s.Take(t.Context(), pull, run1, time.Minute); !errors.Is(err, store.ErrAlive) {
			t.Errorf("the run of a living process: %v", err)
		}
	}
	kill()
	<-ended //nolint:errcheck // it was killed
	l := wait(t, s, pull, run2)
	if err := errors.Join(l.Check(t.Context()), l.Release(t.Context())); err != nil {
		t.Error(err)
	}
}
