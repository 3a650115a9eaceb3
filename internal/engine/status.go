package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/prloop/prloop/internal/wallclock"
)

// lookup finds one run; ok is false when there is none.
func (e *Engine) lookup(ctx context.Context, id string) (w dbos.WorkflowStatus, ok bool, err error) {
	rows, err := e.query(ctx, dbos.WithFilterWorkflowIDs(id), dbos.WithFilterName(kind),
		dbos.WithFilterLoadInput(false), dbos.WithFilterLoadOutput(false))
	if err != nil || len(rows) == 0 {
		return w, false, err
	}
	return rows[0], true, nil
}

// Input gives what a run was begun with, whichever machine began it; ErrNotFound when there is no such run.
func (e *Engine) Input(ctx context.Context, id string) ([]byte, error) {
	rows, err := e.query(ctx, dbos.WithFilterWorkflowIDs(id), dbos.WithFilterName(kind), dbos.WithFilterLoadInput(true), dbos.WithFilterLoadOutput(false))
	if err != nil {
		return nil, fmt.Errorf("look up run %s: %w", id, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("run %s: %w", id, ErrNotFound)
	}
	text, _ := rows[0].Input.(string) // DBOS gives JSON: it knows no types when it lists
	var in []byte
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, fmt.Errorf("read the input of run %s: %w", id, err)
	}
	return in, nil
}

// query asks DBOS, giving up when ctx ends.
func (e *Engine) query(ctx context.Context, opts ...dbos.ListWorkflowsOption) ([]dbos.WorkflowStatus, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	return dbos.ListWorkflows(e.client, opts...)
}

// pending reports whether a run has not ended, and can be gone on with. Cancelled and dead-lettered cannot come about through
// this package, but could through DBOS's own tools.
func pending(s dbos.WorkflowStatusType) bool {
	return s != dbos.WorkflowStatusSuccess && s != dbos.WorkflowStatusError
}

// prune forgets the steps of runs that ended long ago.
func (e *Engine) prune() {
	old, err := dbos.ListWorkflows(e.client, dbos.WithFilterName(kind),
		dbos.WithFilterStatus(dbos.WorkflowStatusSuccess, dbos.WorkflowStatusError),
		dbos.WithFilterCompletedBefore(wallclock.Now().Add(-keepFinished)), dbos.WithFilterLimit(100),
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
