package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// handle is what the engine does for a run.
func (s *Service) handle(ctx context.Context, steps *engine.Steps, input []byte) ([]byte, error) {
	var st stored
	if err := json.Unmarshal(input, &st); err != nil {
		return nil, fmt.Errorf("read the stored request: %w", err)
	}
	s.mu.Lock()
	r := s.live[st.Run]
	s.mu.Unlock()
	if r == nil {
		return nil, engine.Halt(fmt.Errorf("run %s is not under way in this process", st.Run))
	}
	loop, err := r.build(ctx, st)
	if err != nil {
		return nil, engine.Halt(err)
	}
	result, err := loop(ctx, durable{steps})
	if err != nil {
		return nil, engine.Halt(err) // transient: the run stays pending
	}
	return json.Marshal(result)
}

// execute does the run durably: a new one when st is given, otherwise one that is continued from what is stored.
func (r *run) execute(ctx context.Context, st *stored) (ended Ended, err error) {
	e, err := r.engine()
	if err != nil {
		return ended, err
	}
	var out []byte
	defer func() {
		r.counted()
		if errors.Is(err, ErrCancelled) && r.stoppable != nil {
			err = errors.Join(err, r.stoppable.cancelled(context.WithoutCancel(ctx), r.id))
		}
		if errors.As(err, new(*engine.UnfinishedError)) {
			r.leaveStatus(ctx)
		}
	}()
	if st != nil {
		input, err := json.Marshal(st)
		if err != nil {
			return ended, fmt.Errorf("encode the request: %w", err)
		}
		if out, err = e.Run(ctx, r.id, input); err != nil {
			return ended, err
		}
	} else {
		if out, err = e.Resume(ctx, r.id); errors.Is(err, engine.ErrNotFound) {
			out, err = r.beginLate(ctx, e, err)
		}
		if err != nil {
			return ended, err
		}
	}
	if err := json.Unmarshal(out, &ended.Result); err != nil {
		return ended, fmt.Errorf("read the result of run %s: %w", r.id, err)
	}
	ended.Result.Artifacts, ended.Policy = r.folder.Path(r.id), r.policy
	if cause := r.permanently.Load(); cause != nil && ended.Result.Outcome == review.Failed {
		ended.Cause = *cause
	}
	return ended, nil
}

// requestName is the artifact that holds what a run was asked.
const requestName = "request.json"

// record makes a run known before the engine has it: its request first, so that a run killed in between can still begin
// (threats.md K04).
func (s *Service) record(ctx context.Context, st stored) error {
	input, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	s.forgetArtifacts(st.Run)
	if err := s.folder.Save(ctx, st.Run, requestName, input); err != nil {
		return err
	}
	run := store.Run{ID: st.Run, ReviewID: st.ReviewID, Target: st.Target, RepoKey: st.Target.Repo.Key(st.RepoID), Folder: st.Checkout, Head: st.Head, Artifacts: s.folder.Path(st.Run)}
	if st.Asked != nil {
		return s.store.CreateAnswering(ctx, run, askedKey(st.Target, *st.Asked))
	}
	return s.store.CreateRun(ctx, run)
}

// beginLate begins a run that was recorded and that the engine never had. One that has ended is not begun again: the engine
// forgets those after a while.
func (r *run) beginLate(ctx context.Context, e *engine.Engine, unknown error) ([]byte, error) {
	known, err := r.store.Run(ctx, r.id)
	if err != nil || known.State == store.Finished {
		return nil, errors.Join(unknown, err)
	}
	input, err := r.folder.Load(r.id, requestName)
	if err != nil {
		return nil, errors.Join(unknown, err)
	}
	var st stored
	if err := json.Unmarshal(input, &st); err != nil {
		return nil, fmt.Errorf("read the stored request: %w", err)
	}
	if st.Engine != engine.Version {
		return nil, fmt.Errorf("run %s: %w", r.id, engine.ErrVersion)
	}
	return e.Run(ctx, r.id, input)
}
