package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// leaseTime is how long a pull request stays a dead process's where the database cannot tell that it died. Living ones renew well
// before.
const leaseTime = time.Minute

// leased is what a run has for itself: a review the pull request, and a command that runs alone its own part of it, for it pushes nothing and may run beside a review.
func leased(target review.Target, command string) string {
	if command == "" {
		return target.String()
	}
	return target.String() + " " + orchestrator.CommandAgent(command)
}

// hold takes the pull request for the run, so that no two work on it at once, whatever process or machine shares the database
// (threats.md P10); the run is cancelled when the lease is lost. Local ranges and dry runs touch nothing others can see and need none: the
// lease is nil then. Another process that works as this run is engine.ErrBusy.
func (r *run) hold(ctx context.Context, req orchestrator.Request) (*store.Lease, error) {
	if req.Target.Local() || req.DryRun {
		return nil, nil
	}
	command := ""
	if req.Alone && len(req.Agents) == 1 && req.Agents[0].Command != nil {
		command = req.Agents[0].Command.ID
	}
	lease, err := r.store.Take(ctx, leased(req.Target, command), r.id, leaseTime)
	if errors.Is(err, store.ErrAlive) {
		return nil, fmt.Errorf("run %s: %w", r.id, engine.ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	r.lease = lease
	kept, stop := lease.Keep(ctx)
	quiet := context.AfterFunc(kept, func() { r.cancel(context.Cause(kept)) })
	r.cleanup.add(func() {
		quiet()
		stop()
		if err := lease.Release(context.WithoutCancel(ctx)); err != nil {
			r.log.Warn("could not release the pull request lease", "err", err)
		}
	})
	return lease, nil
}
