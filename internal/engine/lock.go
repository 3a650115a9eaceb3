package engine

import (
	"context"
	"errors"
	"fmt"
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
		if err := flock(f); err != nil {
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

// runLock takes the lock of one run, or gives ErrBusy.
func (e *Engine) runLock(id string) (*lock, error) {
	if err := os.MkdirAll(e.locks, 0o700); err != nil {
		return nil, err
	}
	l, err := tryLock(filepath.Join(e.locks, id+".lock"))
	if errors.Is(err, errHeld) {
		return nil, ErrBusy
	}
	return l, err
}
