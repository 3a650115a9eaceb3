package cli

import (
	"context"
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
	lease, err := s.store.Lease(ctx, target.String(), run, leaseTime)
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
