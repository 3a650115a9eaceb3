package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// lockTries is how often an update of refs is tried again when another process is quicker.
	lockTries = 5
	// lockLife is how old the lock of a ref has to be to count as a killed process's (threats.md T29): git holds one while it
	// renames a file.
	lockLife = 10 * time.Second
	// lockPatience is how long an update waits for a lock to be given back or to come of age.
	lockPatience = lockLife + 5*time.Second
)

// update runs a command that moves refs of ours. It waits for other processes that move the same, and removes the locks of
// those that were killed, which nobody else ever would.
func (r *Repository) update(ctx context.Context, c command) ([]byte, error) {
	began := time.Now()
	for try := 1; ; try++ {
		out, err := r.git.run(ctx, c)
		failed := (*CommandError)(nil)
		if err == nil || !errors.As(err, &failed) || !strings.Contains(failed.Stderr, "cannot lock ref") {
			return out, err
		}
		held := strings.Contains(failed.Stderr, ".lock': File exists")
		if !held && try == lockTries || held && time.Since(began) > lockPatience {
			return out, err
		}
		if held {
			r.unlock()
		}
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(min(time.Duration(try)*100*time.Millisecond, time.Second)):
		}
	}
}

// unlock removes locks of refs that are too old to be anybody's.
func (r *Repository) unlock() {
	_ = filepath.WalkDir(filepath.Join(r.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".lock") {
			removeStale(path)
		}
		return nil
	})
	removeStale(filepath.Join(r.dir, "packed-refs.lock"))
}

func removeStale(lock string) {
	if info, err := os.Lstat(lock); err == nil && time.Since(info.ModTime()) > lockLife {
		_ = os.Remove(lock)
	}
}
