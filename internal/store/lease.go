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
// Everybody goes by the database's clock, whatever this machine's says. The owner also measures by its own monotonic clock: if the
// database's were set back, it would believe in a lease that others have seen end.
type Lease struct {
	store *Store
	key   string
	run   string
	// token is the fencing token: of two owners of one key the later has the greater.
	token int64
	ttl   time.Duration

	// renewing lets one renewal go on at a time. Nobody else waits for it, since a renewal waits for the database.
	renewing sync.Mutex
	// mu guards what follows and is never held while the database is waited for: whoever has the one writing connection asks
	// for mu (Sending).
	mu      sync.Mutex
	renewed time.Duration // by Store.elapsed
	mark    mark          // of Take; nil without one
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
		l.renewed = s.elapsed() // inside: waiting for the database takes time too
		clock := s.dialect.clock()
		err := tx.QueryRowContext(ctx, `INSERT INTO leases (lease_key, token, run, taken, expires, released) VALUES ($1, 1, $2, `+clock+`, `+clock+` + $3, 0)
			ON CONFLICT (lease_key) DO UPDATE SET token = leases.token + 1, run = excluded.run, taken = excluded.taken, expires = excluded.expires, released = 0
			WHERE leases.released = 1 OR leases.expires <= `+clock+` OR leases.run = excluded.run RETURNING token`,
			key, run, ttl.Microseconds()).Scan(&l.token)
		if !missing(err) {
			return err
		}
		held := &HeldError{Key: key}
		var taken, expires sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT run, taken, expires FROM leases WHERE lease_key = $1`, key).Scan(&held.Run, &taken, &expires); err != nil {
			return err
		}
		held.Since, held.Until = moment(taken), moment(expires)
		return held
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

// Take is Lease for a process that works as run from now on. Where the database can tell, the lease of a run whose process has
// died is taken at once, and ErrAlive says that another process works as this same run: its lease stays as it is.
func (s *Store) Take(ctx context.Context, key, run string, ttl time.Duration) (*Lease, error) {
	live, ok := s.dialect.(liveness)
	if !ok {
		return s.Lease(ctx, key, run, ttl)
	}
	// Before the lease, and until it is released: so the run that a lease names is asked for, and no other.
	mine, err := live.mark(ctx, key, run)
	if err != nil {
		return nil, s.wrap(fmt.Sprintf("take %s for run %s", key, run), err)
	}
	l, err := s.Lease(ctx, key, run, ttl)
	var held *HeldError
	if errors.As(err, &held) && s.GiveBack(ctx, key, held.Run) == nil {
		l, err = s.Lease(ctx, key, run, ttl)
	}
	switch {
	case err == nil:
		l.mark = mine
		return l, nil
	case errors.As(err, &held):
		return nil, errors.Join(err, mine.Remove())
	}
	return nil, errors.Join(err, mine.Close()) // the lease may be this run's, from before
}

// GiveBack releases the lease that run has of key if its process has died before it could. It does nothing when it lives, or when
// nothing proves that it does not.
func (s *Store) GiveBack(ctx context.Context, key, run string) error {
	live, ok := s.dialect.(liveness)
	if !ok {
		return nil
	}
	op := fmt.Sprintf("give back %s for run %s", key, run)
	gone, err := live.bury(ctx, key, run)
	if errors.Is(err, ErrAlive) {
		return nil
	}
	if err != nil {
		return s.wrap(op, err)
	}
	if _, err := s.write.ExecContext(ctx, `UPDATE leases SET released = 1 WHERE lease_key = $1 AND run = $2`, key, run); err != nil {
		return errors.Join(s.wrap(op, err), gone.Close())
	}
	return s.wrap(op, gone.Remove())
}

// Renew makes the lease last for its whole time from now on. ErrStale once it has run out, even if nobody else took it:
// who slept that long takes it again, and learns so what happened meanwhile.
func (l *Lease) Renew(ctx context.Context) error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	op := fmt.Sprintf("renew the lease of %s for run %s", l.key, l.run)
	s := l.store
	var at time.Duration
	err := s.tx(ctx, op, func(tx *sql.Tx) error {
		at = s.elapsed()
		if l.over(at) {
			return ErrStale
		}
		clock := s.dialect.clock()
		res, err := tx.ExecContext(ctx, `UPDATE leases SET expires = `+clock+` + $3 WHERE lease_key = $1 AND token = $2 AND released = 0 AND expires > `+clock,
			l.key, l.token, l.ttl.Microseconds())
		return stale(one(res, err))
	})
	if err == nil {
		l.mu.Lock()
		l.renewed = at
		l.mu.Unlock()
	}
	return err
}

// over reports whether the time is up by the owner's own clock.
func (l *Lease) over(now time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now-l.renewed >= l.ttl
}

// Check gives ErrStale unless the lease is still ours. To be asked right before anything is written that others can see
// (threats.md T93).
func (l *Lease) Check(ctx context.Context) error {
	return l.store.wrap(fmt.Sprintf("check the lease of %s for run %s", l.key, l.run), l.check(ctx, l.store.read))
}

// Sure gives ErrStale when the lease is over by the owner's clock, or the process may have been buried: it asks nobody, and so holds also for
// what the database does not see, such as a call to GitHub.
func (l *Lease) Sure() error {
	if l.over(l.store.elapsed()) {
		return l.store.wrap(fmt.Sprintf("go on with the lease of %s for run %s", l.key, l.run), ErrStale)
	}
	return l.store.Sure()
}

// Sure gives ErrStale when this process may have been buried, which only one of several machines can be. It asks nobody.
func (s *Store) Sure() error {
	if d, ok := s.dialect.(interface{ sure() error }); ok {
		return s.wrap("go on", d.sure())
	}
	return nil
}

// check asks the owner's clock, then the database.
func (l *Lease) check(ctx context.Context, db querier) error {
	if l.over(l.store.elapsed()) {
		return ErrStale
	}
	var n int
	err := db.QueryRowContext(ctx, `SELECT 1 FROM leases WHERE lease_key = $1 AND token = $2 AND released = 0 AND expires > `+l.store.dialect.clock()+l.store.dialect.shared(),
		l.key, l.token).Scan(&n)
	if missing(err) {
		return ErrStale
	}
	return err
}

// Release gives the lease back; nothing happens if it is not ours any more.
func (l *Lease) Release(ctx context.Context) error {
	_, err := l.store.write.ExecContext(ctx, `UPDATE leases SET released = 1 WHERE lease_key = $1 AND token = $2`, l.key, l.token)
	l.mu.Lock()
	mine := l.mark
	l.mark = nil
	l.mu.Unlock()
	switch {
	case mine == nil:
	case err == nil: // with the lease nobody asks any more whether its owner lives
		err = mine.Remove()
	default:
		err = errors.Join(err, mine.Close())
	}
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

func stale(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrStale
	}
	return err
}
