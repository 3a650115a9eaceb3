package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// leaseTime is how long a pull request stays a dead process's. Living ones renew well before.
const leaseTime = time.Minute

// hold takes the pull request for a run, so that no two work on it at once, whatever process or machine shares the database
// (threats.md P10); lost is told when the lease is lost. Local ranges and dry runs touch nothing others can see and need none: the lease
// is nil then.
func (s *session) hold(ctx context.Context, target review.Target, run string, dry bool, lost context.CancelCauseFunc) (*store.Lease, error) {
	if target.Local() || dry {
		return nil, nil
	}
	key := target.String()
	lease, err := s.takeLease(ctx, key, run)
	if err != nil {
		return nil, err
	}
	kept, stop := lease.Keep(ctx)
	quiet := context.AfterFunc(kept, func() { lost(context.Cause(kept)) })
	s.onClose(func() {
		quiet()
		stop()
		err := lease.Release(context.WithoutCancel(ctx))
		if err == nil { // with the lease nobody asks any more whether its owner lives
			err = os.Remove(s.leaseFolder(key, run))
		}
		if err != nil {
			s.log.Warn("the pull request could not be given back", "err", err)
		}
	})
	return lease, nil
}

// leasesName is where the locks stand that tell a living owner of a lease from a dead one.
const leasesName = "leases"

// leaseFolder is locked for as long as a process works as this run on what key names.
func (s *session) leaseFolder(key, run string) string {
	return filepath.Join(s.state, leasesName, fingerprint(key+"\n"+run))
}

// takeLease takes a lease, a dead process's too. Everybody who shares this database of files shares the machine, so a lock
// that the kernel drops with its process tells at once what the lease would tell only when it runs out. It is the run's own,
// held before the lease is taken and until it is given back: so the run that a lease names is asked for, and no other. A
// lease of this same run is its own to take over, unless a process of it lives: then it is engine.ErrBusy, and the lease
// stays as it is.
func (s *session) takeLease(ctx context.Context, key, run string) (*store.Lease, error) {
	alive, err := makeLocked(s.leaseFolder(key, run))
	if errors.Is(err, errInUse) {
		return nil, fmt.Errorf("run %s: %w", run, engine.ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", key, err)
	}
	s.onClose(func() { alive.Close() })
	lease, err := s.store.Lease(ctx, key, run, leaseTime)
	var held *store.HeldError
	if !locksFolders || !errors.As(err, &held) {
		return lease, err
	}
	folder := s.leaseFolder(key, held.Run)
	gone, lockErr := lockSoon(folder)
	if lockErr != nil {
		return nil, err // it lives, or nothing proves that it does not
	}
	defer gone.Close()
	dead, err := s.store.Lease(ctx, key, held.Run, leaseTime) // as the run itself would, come back
	if err != nil {
		return nil, err
	}
	if err := errors.Join(dead.Release(ctx), os.Remove(folder)); err != nil {
		return nil, err
	}
	return s.store.Lease(ctx, key, run, leaseTime)
}

// giveBack gives back the pull request that a finished run still has because its process was killed before it could.
func (s *session) giveBack(ctx context.Context, key, run string) error {
	folder := s.leaseFolder(key, run)
	if _, err := os.Lstat(folder); !locksFolders || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	gone, err := lockSoon(folder)
	if errors.Is(err, errInUse) || errors.Is(err, fs.ErrNotExist) { // it lives and does it itself, or just did
		return nil
	}
	if err != nil {
		return err
	}
	defer gone.Close()
	lease, err := s.store.Lease(ctx, key, run, leaseTime)
	switch {
	case err == nil:
		err = lease.Release(ctx)
	case errors.As(err, new(*store.HeldError)): // another run has it by now
		err = nil
	}
	return errors.Join(err, os.Remove(folder))
}

// makeLocked makes a folder if need be and locks it, or gives errInUse. Whoever had it may be removing it.
func makeLocked(dir string) (io.Closer, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if held, err := lockSoon(dir); !errors.Is(err, fs.ErrNotExist) {
			return held, err
		}
	}
}

// lockSoon locks a folder, or gives errInUse if somebody has it for longer than a killed process may.
func lockSoon(dir string) (io.Closer, error) {
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		held, err := lockFolder(dir, false)
		if !errors.Is(err, errInUse) || time.Since(began) > engine.LockPatience {
			return held, err
		}
	}
}
