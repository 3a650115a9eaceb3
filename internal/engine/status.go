package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// State is how far a run is.
type State string

// The states. Done and Failed are for ever.
const (
	Pending State = "pending"
	Done    State = "done"
	Failed  State = "failed"
)

// Status is what is known of one run.
type Status struct {
	ID    string
	State State
	// Live is true for a pending run that a process is executing right now.
	Live bool
	// Version is the order of steps the run was started with; only runs of this prloop's version can be continued.
	Version string
	Created time.Time
	Updated time.Time
}

// List gives all runs, newest first. Finished ones are forgotten after 30 days.
func (e *Engine) List(ctx context.Context) ([]Status, error) { return e.list(ctx) }

// Pending gives the runs that are not finished, newest first.
func (e *Engine) Pending(ctx context.Context) ([]Status, error) {
	return e.list(ctx, dbos.WithFilterStatus(unfinished...))
}

// unfinished are the states from which a run can be continued. Cancelled and dead-lettered cannot come about through this
// package, but could through DBOS's own tools.
var unfinished = []dbos.WorkflowStatusType{
	dbos.WorkflowStatusPending, dbos.WorkflowStatusEnqueued, dbos.WorkflowStatusDelayed,
	dbos.WorkflowStatusCancelled, dbos.WorkflowStatusMaxRecoveryAttemptsExceeded,
}

func (e *Engine) list(ctx context.Context, more ...dbos.ListWorkflowsOption) ([]Status, error) {
	opts := append([]dbos.ListWorkflowsOption{
		dbos.WithFilterName(kind), dbos.WithFilterSortDesc(), dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false),
	}, more...)
	rows, err := e.query(ctx, opts...)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	out := make([]Status, len(rows))
	for i, w := range rows {
		out[i] = Status{ID: w.ID, State: state(w.Status), Version: w.ApplicationVersion, Created: w.CreatedAt, Updated: w.UpdatedAt}
		if out[i].State != Pending || !validID(w.ID) {
			continue
		}
		if out[i].Live, err = held(e.lockPath(w.ID)); err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
	}
	return out, nil
}

// lookup finds one run; ok is false when there is none.
func (e *Engine) lookup(ctx context.Context, id string) (w dbos.WorkflowStatus, ok bool, err error) {
	rows, err := e.query(ctx, dbos.WithFilterWorkflowIDs(id), dbos.WithFilterName(kind),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil || len(rows) == 0 {
		return w, false, err
	}
	return rows[0], true, nil
}

// query asks DBOS, giving up when ctx ends.
func (e *Engine) query(ctx context.Context, opts ...dbos.ListWorkflowsOption) ([]dbos.WorkflowStatus, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return dbos.ListWorkflows(e.client, opts...)
}

func state(s dbos.WorkflowStatusType) State {
	switch s {
	case dbos.WorkflowStatusSuccess:
		return Done
	case dbos.WorkflowStatusError:
		return Failed
	}
	return Pending
}

// prune forgets the steps of runs that ended long ago.
func (e *Engine) prune() {
	old, err := dbos.ListWorkflows(e.client, dbos.WithFilterName(kind),
		dbos.WithFilterStatus(dbos.WorkflowStatusSuccess, dbos.WorkflowStatusError),
		dbos.WithFilterCompletedBefore(time.Now().Add(-keepFinished)), dbos.WithFilterLimit(100),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	ids := make([]string, len(old))
	for i, w := range old {
		ids[i] = w.ID
	}
	if err == nil && len(ids) > 0 {
		err = dbos.DeleteWorkflows(e.client, ids)
	}
	if err != nil {
		e.log.Warn("old runs could not be forgotten", "err", err)
	}
}
