package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// leaseTime is how long a pull request stays a dead process's. Living ones renew well before.
const leaseTime = time.Minute

// hold takes the pull request for the run, so that no two work on it at once, whatever process or machine shares the database
// (threats.md P10); the run is cancelled when the lease is lost. Local ranges and dry runs touch nothing others can see and need none: the
// lease is nil then.
func (r *run) hold(ctx context.Context, target review.Target, dry bool) (*store.Lease, error) {
	if target.Local() || dry {
		return nil, nil
	}
	key := target.String()
	lease, err := r.takeLease(ctx, key)
	if err != nil {
		return nil, err
	}
	kept, stop := lease.Keep(ctx)
	quiet := context.AfterFunc(kept, func() { r.cancel(context.Cause(kept)) })
	r.cleanup.add(func() {
		quiet()
		stop()
		err := lease.Release(context.WithoutCancel(ctx))
		if err == nil { // with the lease nobody asks any more whether its owner lives
			err = os.Remove(r.leaseFolder(key, r.id))
		}
		if err != nil {
			r.log.Warn("could not release the pull request lease", "err", err)
		}
	})
	return lease, nil
}

// leasesName is where the locks stand that tell a living owner of a lease from a dead one.
const leasesName = "leases"

// leaseFolder is locked for as long as a process works as this run on what key names.
func (s *Service) leaseFolder(key, run string) string {
	return filepath.Join(s.opts.State, leasesName, fingerprint(key+"\n"+run))
}

// takeLease takes a lease, a dead process's too. Everybody who shares this database of files shares the machine, so the lock of a
// folder, which the kernel drops with its process, tells at once what the lease would tell only when it runs out. The lock is per
// run, taken before the lease and held until it is released: so the run that a lease names is asked for, and no other. A lease of
// this same run is its own to take over, unless a process of it lives: then it is engine.ErrBusy, and the lease stays as it is.
func (r *run) takeLease(ctx context.Context, key string) (*store.Lease, error) {
	alive, err := makeLocked(ctx, r.leaseFolder(key, r.id))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("run %s: %w", r.id, engine.ErrBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", key, err)
	}
	r.cleanup.add(func() { alive.Close() })
	lease, err := r.store.Lease(ctx, key, r.id, leaseTime)
	var held *store.HeldError
	if !filelock.Folders || !errors.As(err, &held) {
		return lease, err
	}
	folder := r.leaseFolder(key, held.Run)
	gone, lockErr := lockSoon(ctx, folder)
	if lockErr != nil {
		return nil, err // it lives, or nothing proves that it does not
	}
	defer gone.Close()
	dead, err := r.store.Lease(ctx, key, held.Run, leaseTime) // as the run itself would, resumed
	if err != nil {
		return nil, err
	}
	if err := errors.Join(dead.Release(ctx), os.Remove(folder)); err != nil {
		return nil, err
	}
	return r.store.Lease(ctx, key, r.id, leaseTime)
}

// giveBack gives back the pull request that a finished run still has because its process was killed before it could.
func (s *Service) giveBack(ctx context.Context, key, run string) error {
	folder := s.leaseFolder(key, run)
	if _, err := os.Lstat(folder); !filelock.Folders || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	gone, err := lockSoon(ctx, folder)
	if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist) { // it lives and does it itself, or just did
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

// makeLocked makes a folder if need be and locks it, or gives filelock.ErrHeld. Whoever had it may be removing it.
func makeLocked(ctx context.Context, dir string) (*filelock.Lock, error) {
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if held, err := lockSoon(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			return held, err
		}
	}
}

// lockSoon locks a folder, or gives filelock.ErrHeld if somebody has it for longer than a killed process may.
func lockSoon(ctx context.Context, dir string) (*filelock.Lock, error) {
	ctx, cancel := filelock.Soon(ctx)
	defer cancel()
	return filelock.Folder(ctx, dir)
}
