package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// collectEvery is how often objects are collected at most: a large repository takes minutes.
	collectEvery = 24 * time.Hour
	// objectLife is how long an object stays that nothing refers to: as long as a run can be resumed that may want it.
	objectLife = 30 * 24 * time.Hour
	// collectTime is how long a collection may take. One that takes longer is begun anew the next day, when what it left is gone (leavings).
	collectTime = 10 * time.Minute
)

// Collect removes objects that nothing has referred to for objectLife, such as heads that were pushed over and fixes that were refused (threats.md T357). It does
// so at most once in collectEvery. Others may read and write meanwhile.
func (r *Repository) Collect(ctx context.Context, now time.Time) error {
	mark := filepath.Join(r.dir, "collected")
	info, err := os.Stat(mark)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case err == nil && now.Sub(info.ModTime()).Abs() < collectEvery:
		return nil
	}
	if err := errors.Join(os.WriteFile(mark, nil, 0o600), os.Chtimes(mark, now, now)); err != nil {
		return err
	}
	if info == nil { // nothing can be known to be old
		return nil
	}
	before := now.Add(-objectLife).UTC().Format(time.RFC3339)
	if _, err := r.git.run(ctx, command{name: "gc", at: r.place(), packs: true, timeout: collectTime, args: []string{"--quiet", "--prune=" + before}}); err != nil {
		return fmt.Errorf("collect objects: %w", err)
	}
	return nil
}
