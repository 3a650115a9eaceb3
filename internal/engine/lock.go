package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// errHeld: somebody else holds the lock.
var errHeld = errors.New("lock is held")

// A lock is an advisory lock on a file of its own. The kernel releases it when the process ends, however it ends.
type lock struct{ f *os.File }

// tryLock takes the lock named by path, or gives errHeld. The file is created if need be.
func tryLock(path string) (*lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f, exclusive); err != nil {
			f.Close()
			return nil, err
		}
		// The holder before us removes the file when it is done: then we hold a lock on a file nobody can find any more.
		if same(f, path) {
			return &lock{f}, nil
		}
		f.Close()
	}
}

// waitLock takes the lock, asking again until ctx ends.
func waitLock(ctx context.Context, path string) (*lock, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		l, err := tryLock(path)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// release gives the lock back. Its file is removed first, while nobody else can hold it.
func (l *lock) release() {
	os.Remove(l.f.Name())
	l.f.Close()
}

func same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// LockPatience is how long the lock of a run may outlive the process that was killed with it. A child holds all descriptors of
// its parent from the moment it is split off until it executes its program, and the lock with them: up to 0.2 s were measured
// with ten processes to each processor. After that the run is being executed.
const LockPatience = 2 * time.Second

// runLock takes the lock of one run, or gives ErrBusy.
func (e *Engine) runLock(ctx context.Context, id string) (*lock, error) {
	if err := os.MkdirAll(e.locks, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, LockPatience, errHeld)
	defer cancel()
	l, err := waitLock(ctx, lockFile(e.opts.Path, id))
	if errors.Is(err, errHeld) {
		return nil, ErrBusy
	}
	return l, err
}

// lockFile is where the lock of a run stands beside the database.
func lockFile(path, id string) string { return filepath.Join(path+locksSuffix, id+".lock") }

// Executing reports whether a process is at work on a run of the database at path. It opens nothing but the run's lock, and a
// process that takes the lock at the same time waits for it.
func Executing(path, id string) (bool, error) {
	if !validID(id) {
		return false, fmt.Errorf("run %q: not a run id", id)
	}
	f, err := os.Open(lockFile(path, id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the process of run %s: %w", id, err)
	}
	defer f.Close()
	err = flock(f, shared)
	if err != nil && !errors.Is(err, errHeld) {
		return false, fmt.Errorf("look for the process of run %s: %w", id, err)
	}
	return err != nil, nil
}
