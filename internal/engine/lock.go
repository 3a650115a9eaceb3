package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/internal/filelock"
)

// runLock takes the lock of one run, or gives ErrBusy.
func (e *Engine) runLock(ctx context.Context, id string) (*filelock.Lock, error) {
	if err := os.MkdirAll(e.locks, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := filelock.Soon(ctx)
	defer cancel()
	l, err := filelock.File(ctx, lockFile(e.opts.Path, id))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, ErrBusy
	}
	return l, err
}

// release gives the lock of a run back. Its file goes too, where a file that is open can be removed.
func (e *Engine) release(l *filelock.Lock) {
	if err := l.Remove(); err != nil {
		e.log.Debug("lock of run could not be removed", "err", err)
	}
}

// lockFile is where the lock of a run stands beside the database.
func lockFile(path, id string) string { return filepath.Join(path+locksSuffix, id+".lock") }

// Executing reports whether a process is at work on a run of the database at path. It opens nothing but the run's lock, and a
// process that takes the lock at the same time waits for it.
func Executing(path, id string) (bool, error) {
	if !validID(id) {
		return false, fmt.Errorf("run %q: not a run id", id)
	}
	held, err := filelock.Held(lockFile(path, id))
	if err != nil {
		return false, fmt.Errorf("look for the process of run %s: %w", id, err)
	}
	return held, nil
}
