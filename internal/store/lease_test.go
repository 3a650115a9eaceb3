package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/eventually"
)

// clocks are set by hand: the database's, and that of the process, which only goes forward.
type clocks struct {
	database time.Time
	process  time.Duration
}

// pass lets time go by on both.
func (c *clocks) pass(d time.Duration) { c.database, c.process = c.database.Add(d), c.process+d }

// handClock is a dialect whose database has the clock of a test.
type handClock struct {
	dialect
	clocks *clocks
}

func (h handClock) clock() string { return strconv.FormatInt(micros(h.clocks.database), 10) }

// byHand sets the clocks of a store by hand. The wall clock of its process says something else altogether.
func byHand(s *Store, c *clocks) {
	s.dialect = handClock{s.dialect, c}
	s.elapsed = func() time.Duration { return c.process }
	s.now = func() time.Time { return c.database.Add(-1000 * time.Hour) }
}

func TestLeaseLife(t *testing.T) {
	const pull = "octo/demo#7"
	s, ctx := fresh(t), t.Context()
	c := &clocks{database: clock}
	byHand(s, c)
	first, err := s.Lease(ctx, pull, run1, time.Minute)
	if err != nil || first.token != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	_, err = s.Lease(ctx, pull, run2, time.Minute)
	var held *HeldError
	if !errors.As(err, &held) || held.Run != run1 || !held.Since.Equal(clock) || !held.Until.Equal(clock.Add(time.Minute)) {
		t.Errorf("another run: %v", err)
	}
	if other, err := s.Lease(ctx, "octo/demo#8", run2, time.Minute); err != nil || other.token != 1 {
		t.Errorf("another pull request: %v", err)
	}
	c.pass(50 * time.Second)
	if err := errors.Join(first.Check(ctx), first.Renew(ctx)); err != nil {
		t.Errorf("in time: %v", err)
	}
	c.pass(59 * time.Second)
	if err := first.Sure(); err != nil {
		t.Errorf("in time: %v", err)
	}
	if err := first.Check(ctx); err != nil {
		t.Errorf("renewed: %v", err)
	}
	c.pass(time.Second)
	for name, err := range map[string]error{"check": first.Check(ctx), "renew": first.Renew(ctx)} {
		if !errors.Is(err, ErrStale) {
			t.Errorf("%s at the end: %v", name, err)
		}
	}
	second, err := s.Lease(ctx, pull, run2, time.Minute)
	if err != nil || second.token != 2 {
		t.Fatalf("after the end: %+v, %v", second, err)
	}
	if err := first.Release(ctx); err != nil || second.Check(ctx) != nil {
		t.Errorf("a stale release: %v, then %v", err, second.Check(ctx))
	}
	again, err := s.Lease(ctx, pull, run2, time.Minute) // a resumed run
	if err != nil || again.token != 3 || !errors.Is(second.Check(ctx), ErrStale) {
		t.Errorf("the run again: %+v, %v; its process before: %v", again, err, second.Check(ctx))
	}
	if err := again.Release(ctx); err != nil || !errors.Is(again.Check(ctx), ErrStale) {
		t.Errorf("released: %v", err)
	}
	if third, err := s.Lease(ctx, pull, run1, time.Minute); err != nil || third.token != 4 {
		t.Errorf("after a release: %+v, %v", third, err)
	}
}

// threats.md T96: clocks jump. Nobody writes with a lease that somebody else could have.
func TestLeaseAndClockJumps(t *testing.T) {
	for _, row := range []struct {
		name              string
		database, process time.Duration
		lost, free        bool // the owner may not write; another run may have it
	}{
		{"the database's clock an hour ahead", time.Hour, 0, true, true},
		{"the database's clock a day back", -24 * time.Hour, 0, false, false},
		{"a day back, while the lease ran out by the owner's clock", -24 * time.Hour, time.Minute, true, false},
		{"the owner's clock stood still while its machine slept", time.Minute, 0, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := fresh(t)
			c := &clocks{database: clock}
			byHand(s, c)
			l, err := s.Lease(t.Context(), "k", run1, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			create(t, s, run1)
			if _, err := s.Intent(t.Context(), effect("n1", 1)); err != nil {
				t.Fatal(err)
			}
			c.database, c.process = c.database.Add(row.database), c.process+row.process
			for what, err := range map[string]error{"check": l.Check(t.Context()), "sending": s.Sending(t.Context(), "n1", l), "renew": l.Renew(t.Context())} {
				if errors.Is(err, ErrStale) != row.lost || !row.lost && err != nil {
					t.Errorf("%s: %v, want that it is lost: %v", what, err, row.lost)
				}
			}
			_, err = s.Lease(t.Context(), "k", run2, time.Minute)
			if errors.As(err, new(*HeldError)) == row.free {
				t.Errorf("another run: %v, want that it gets it: %v", err, row.free)
			}
		})
	}
}

// A renewal that waits for the database does not stop whoever has it from asking for the lease.
func TestRenewalWhileSending(t *testing.T) {
	s := fresh(t)
	l, err := s.Lease(t.Context(), "k", run1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	renewed := make(chan error, 1)
	asked := make(chan error, 1)
	err = s.tx(t.Context(), "send", func(tx *sql.Tx) error {
		go func() { renewed <- l.Renew(t.Context()) }()
		eventually.True(t, "the renewal to wait for this transaction", func() bool { return s.write.Stats().WaitCount > 0 })
		go func() { asked <- l.check(t.Context(), tx) }() // as Sending does
		select {
		case err := <-asked:
			return err
		case <-time.After(10 * time.Second):
			return errors.New("the lease cannot be asked for: each waits for the other")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-renewed; err != nil {
		t.Errorf("renew: %v", err)
	}
}

func TestSendingUnderALease(t *testing.T) {
	s := fresh(t)
	create(t, s, run1)
	l, err := s.Lease(t.Context(), "k", run1, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Intent(t.Context(), effect("n1", 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Sending(t.Context(), "n1", l); err != nil {
		t.Error(err)
	}
}

// Keep holds a lease for longer than its time, and says when it is lost.
func TestKeep(t *testing.T) {
	s := fresh(t)
	const ttl = time.Second // a renewal has two thirds of it to get its turn on a loaded machine
	l, err := s.Lease(t.Context(), "k", run1, ttl)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := l.Keep(t.Context())
	defer stop()
	for start := time.Now(); time.Since(start) < 2*ttl; {
		var held *HeldError
		if _, err := s.Lease(t.Context(), "k", run2, ttl); !errors.As(err, &held) {
			t.Fatalf("another run got in: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Fatalf("kept: %v", ctx.Err())
	}
	if err := l.Release(t.Context()); err != nil { // as if it were lost
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
	}
	if err := context.Cause(ctx); !errors.Is(err, ErrStale) {
		t.Errorf("lost: %v", err)
	}
}
