package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// leaseTime is how long a pull request stays a dead process's. Living ones renew well before.
const leaseTime = time.Minute

// hold takes the pull request for a run, so that no two work on it at once, whatever process or machine shares the database
// (P10). The context it gives ends when the lease is lost. Local ranges and dry runs touch nothing others can see and need
// none: the lease is nil then.
func (s *session) hold(ctx context.Context, target review.Target, run string, dry bool) (context.Context, *store.Lease, error) {
	if target.Local() || dry {
		return ctx, nil, nil
	}
	lease, err := s.takeLease(ctx, target.String(), run)
	if err != nil {
		return ctx, nil, err
	}
	kept, stop := lease.Keep(ctx)
	s.onClose(func() {
		stop()
		if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
			s.log.Warn("the pull request could not be given back", "err", err)
		}
	})
	return kept, lease, nil
}

// leasesName is where the locks stand that tell a living owner of a lease from a dead one.
const leasesName = "leases"

// takeLease takes a lease, a dead process's too. Everybody who shares this database of files shares the machine, so a lock
// that the kernel drops with its process tells at once what the lease would tell only when it runs out.
func (s *session) takeLease(ctx context.Context, key, run string) (*store.Lease, error) {
	dir := filepath.Join(s.state, leasesName, fingerprint(key))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("take %s: %w", key, err)
	}
	alone, err := lockFolder(dir, false)
	if err != nil && !errors.Is(err, errInUse) {
		return nil, fmt.Errorf("take %s: %w", key, err)
	}
	if alone != nil {
		s.onClose(func() { alone.Close() })
	}
	lease, err := s.store.Lease(ctx, key, run, leaseTime)
	var held *store.HeldError
	if alone == nil || !locksFolders || !errors.As(err, &held) {
		return lease, err
	}
	dead, err := s.store.Lease(ctx, key, held.Run, leaseTime) // as the run itself would, come back
	if err != nil {
		return nil, err
	}
	if err := dead.Release(ctx); err != nil {
		return nil, err
	}
	return s.store.Lease(ctx, key, run, leaseTime)
}
