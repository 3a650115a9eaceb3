package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
)

// ErrStale: the lease is not ours any more. Whoever gets it stops: somebody else may be at work (threats.md T93).
var ErrStale = errors.New("the lease was lost")

// HeldError says that another run has the lease.
type HeldError struct {
	// Key is what is leased, Run who has it.
	Key, Run string
	// Since is when that run took it, Until when it ends unless it is renewed.
	Since, Until time.Time
}

// Error names the other run and since when.
func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is being worked on by run %s since %s", e.Key, e.Run, e.Since.Format(time.RFC3339))
}

// A Lease is the sole right of one run to work on one thing, for a time (threats.md P10). It is safe for concurrent use.
//
// Everybody else goes by the wall clock and the database. The owner also measures by the monotonic clock: set back, a
// wall clock would have it believe in a lease that others have seen end.
type Lease struct {
	store *Store
	key   string
	run   string
	// token is the fencing token: of two owners of one key the later has the greater.
	token int64
	ttl   time.Duration

	// renewing lets one renewal go on at a time. Nobody else waits for it, since a renewal waits for the database.
	renewing sync.Mutex
	// mu guards renewed and is never held while the database is waited for: whoever has the one writing connection asks
	// for mu (Sending).
	mu      sync.Mutex
	renewed time.Time // with the monotonic reading
}

var leaseTaken = failpoint.New("lease: taken")

// Lease takes the lease of key for run, or gives a *HeldError. A run that comes again, after a crash, takes its own lease
// over at once, with a new token, so that its process before is refused should it still live. ttl must be positive; renew
// well before it is over (Keep).
func (s *Store) Lease(ctx context.Context, key, run string, ttl time.Duration) (*Lease, error) {
	op := fmt.Sprintf("lease %s for run %s", key, run)
	if key == "" || run == "" || ttl <= 0 {
		return nil, s.wrap(op, errors.New("incomplete request"))
	}
	l := &Lease{store: s, key: key, run: run, ttl: ttl}
	err := s.tx(ctx, op, func(tx *sql.Tx) error {
		l.renewed = s.now() // inside: waiting for the database takes time too
		now := micros(l.renewed)
		var owner string
		var taken, expires, released int64
		err := tx.QueryRowContext(ctx, `SELECT run, taken, expires, released FROM leases WHERE lease_key = $1`, key).Scan(&owner, &taken, &expires, &released)
		if err != nil && !missing(err) {
			return err
		}
		if err == nil && released == 0 && expires > now && owner != run {
			return &HeldError{Key: key, Run: owner, Since: time.UnixMicro(taken).UTC(), Until: time.UnixMicro(expires).UTC()}
		}
		return tx.QueryRowContext(ctx, `INSERT INTO leases (lease_key, token, run, taken, expires, released) VALUES ($1, 1, $2, $3, $4, 0)
			ON CONFLICT (lease_key) DO UPDATE SET token = leases.token + 1, run = $2, taken = $3, expires = $4, released = 0 RETURNING token`,
			key, run, now, now+ttl.Microseconds()).Scan(&l.token)
	})
	var held *HeldError
	switch {
	case errors.As(err, &held):
		return nil, held // it says all there is to say
	case err != nil:
		return nil, err
	}
	if err := leaseTaken.Hit(); err != nil {
		return nil, s.wrap(op, err)
	}
	return l, nil
}

// Renew makes the lease last for its whole time from now on. ErrStale once it has run out, even if nobody else took it:
// who slept that long takes it again, and learns so what happened meanwhile.
func (l *Lease) Renew(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	op := fmt.Sprintf("renew the lease of %s for run %s", l.key, l.run)
	s := l.store
	var at time.Time
	err := s.tx(ctx, op, func(tx *sql.Tx) error {
		at = s.now()
		if l.over(at) {
			return ErrStale
		}
		res, err := tx.ExecContext(ctx, `UPDATE leases SET expires = $4 WHERE lease_key = $1 AND token = $2 AND released = 0 AND expires > $3`,
			l.key, l.token, micros(at), micros(at)+l.ttl.Microseconds())
		return stale(one(res, err))
	})
	if err == nil {
		l.mu.Lock()
		l.renewed = at
		l.mu.Unlock()
	}
	return err
}

// over reports whether the time is up, by either clock.
func (l *Lease) over(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.renewed) >= l.ttl || now.Round(0).Sub(l.renewed.Round(0)) >= l.ttl
}

// Check gives ErrStale unless the lease is still ours. To be asked right before anything is written that others can see
// (threats.md T93).
func (l *Lease) Check(ctx context.Context) error {
	return l.store.wrap(fmt.Sprintf("check the lease of %s for run %s", l.key, l.run), l.check(ctx, l.store.read))
}

// check asks the owner's clocks, then the database.
func (l *Lease) check(ctx context.Context, db querier) error {
	now := l.store.now()
	if l.over(now) {
		return ErrStale
	}
	return fenced(ctx, db, l.key, l.token, now)
}

// Release gives the lease back; nothing happens if it is not ours any more.
func (l *Lease) Release(ctx context.Context) error {
	_, err := l.store.write.ExecContext(ctx, `UPDATE leases SET released = 1 WHERE lease_key = $1 AND token = $2`, l.key, l.token)
	return l.store.wrap(fmt.Sprintf("release the lease of %s for run %s", l.key, l.run), err)
}

// Keep renews the lease three times in its time until stop is called, which waits for it to end. The context it gives ends
// with ErrStale as its cause when the lease is lost.
func (l *Lease) Keep(ctx context.Context) (kept context.Context, stop func()) {
	kept, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(max(l.ttl/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-kept.Done():
				return
			case <-tick.C:
			}
			// A database that is busy for a moment is no loss yet; the clock decides.
			if err := l.Renew(kept); err != nil && (errors.Is(err, ErrStale) || l.Check(kept) != nil) {
				cancel(err)
				return
			}
		}
	}()
	return kept, func() { cancel(context.Canceled); <-done }
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func fenced(ctx context.Context, db querier, key string, token int64, now time.Time) error {
	var n int
	err := db.QueryRowContext(ctx, `SELECT 1 FROM leases WHERE lease_key = $1 AND token = $2 AND released = 0 AND expires > $3`, key, token, micros(now)).Scan(&n)
	if missing(err) {
		return ErrStale
	}
	return err
}

func stale(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrStale
	}
	return err
}
