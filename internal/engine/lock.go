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
		if err := flock(f, true); err != nil {
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

// held reports whether somebody holds the lock. It looks by taking the lock in shared mode for a moment.
func held(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = flock(f, false)
	if errors.Is(err, errHeld) {
		return true, nil
	}
	return false, err
}

func same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// runLock takes the lock of one run. Somebody who only looks holds it in shared mode for microseconds, so a refusal is
// believed only when it lasts.
func (e *Engine) runLock(ctx context.Context, id string) (*lock, error) {
	wait, cancel := context.WithTimeoutCause(ctx, 50*time.Millisecond, ErrBusy)
	defer cancel()
	if err := os.MkdirAll(e.locks, 0o700); err != nil {
		return nil, err
	}
	l, err := waitLock(wait, e.lockPath(id))
	if errors.Is(err, ErrBusy) {
		return nil, ErrBusy
	}
	return l, err
}

func (e *Engine) lockPath(id string) string { return filepath.Join(e.locks, id+".lock") }
