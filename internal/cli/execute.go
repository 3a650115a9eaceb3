package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// A builder puts the loop of a run together.
type builder func(context.Context, stored) (*orchestrator.Loop, error)

// openEngine begins to open the engine of runs, and execute waits for it: its tables take their time.
func (s *session) openEngine(ctx context.Context) {
	s.engine = sync.OnceValues(func() (*engine.Engine, error) {
		return engine.Open(ctx, engine.Options{Path: s.database(), Log: s.log.Named("engine"), Handler: s.handle})
	})
	go s.engine() //nolint:errcheck // execute hears of it
	s.onClose(func() {
		if e, err := s.engine(); err == nil {
			e.Close(context.WithoutCancel(ctx))
		}
	})
}

// handle is what the engine does for a run.
func (s *session) handle(ctx context.Context, steps *engine.Steps, input []byte) ([]byte, error) {
	var st stored
	if err := json.Unmarshal(input, &st); err != nil {
		return nil, fmt.Errorf("read the stored request: %w", err)
	}
	loop, err := s.build(ctx, st)
	if err != nil {
		return nil, engine.Halt(err)
	}
	result, err := loop.Run(ctx, durable{steps}, st.Request)
	if err != nil {
		return nil, engine.Halt(err) // it could not go on here and now: that is no end of a run
	}
	return json.Marshal(result)
}

// execute does a run durably: a new one when st is given, otherwise one that is continued from what is stored.
func (s *session) execute(ctx context.Context, run string, st *stored, build builder) (review.RunResult, error) {
	var result review.RunResult
	s.build = build
	e, err := s.engine()
	if err != nil {
		return result, err
	}
	defer e.Close(context.WithoutCancel(ctx)) // before anything the run works with is taken away
	var out []byte
	if st != nil {
		input, err := json.Marshal(st)
		if err != nil {
			return result, fmt.Errorf("encode the request: %w", err)
		}
		out, err = e.Run(ctx, run, input)
		if err != nil {
			return result, stopped(run, err)
		}
	} else {
		if out, err = e.Resume(ctx, run); errors.Is(err, engine.ErrNotFound) {
			out, err = s.beginLate(ctx, e, run, err)
		}
		if err != nil {
			return result, stopped(run, err)
		}
	}
	return result, json.Unmarshal(out, &result)
}

// requestName is the artifact that holds what a run was asked.
const requestName = "request.json"

// recordRun makes a run known before the engine has it: its request first, so that a run killed in between can still begin
// (threats.md K04).
func (s *session) recordRun(ctx context.Context, st stored) error {
	input, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	s.forgetArtifacts(st.Run)
	if err := s.folder.Save(st.Run, requestName, input); err != nil {
		return err
	}
	return s.store.CreateRun(ctx, store.Run{ID: st.Run, ReviewID: st.ReviewID, Target: st.Target, Head: st.Head, Artifacts: s.folder.Path(st.Run)})
}

// beginLate begins a run that was recorded and that the engine never had. One that has ended is not begun again: the engine
// forgets those after a while.
func (s *session) beginLate(ctx context.Context, e *engine.Engine, run string, unknown error) ([]byte, error) {
	known, err := s.store.Run(ctx, run)
	if err != nil || known.State == store.Finished {
		return nil, errors.Join(unknown, err)
	}
	input, err := s.folder.Load(run, requestName)
	if err != nil {
		return nil, errors.Join(unknown, err)
	}
	var st stored
	if err := json.Unmarshal(input, &st); err != nil {
		return nil, fmt.Errorf("read the stored request: %w", err)
	}
	if st.Engine != engine.Version {
		return nil, fmt.Errorf("run %s: %w", run, engine.ErrVersion)
	}
	return e.Run(ctx, run, input)
}

// stopped names the command that continues a run.
func stopped(run string, err error) error {
	var u *engine.UnfinishedError
	if !errors.As(err, &u) {
		return err
	}
	h := explain(u.Cause)
	h.err = u.Cause
	resume := "prloop resume " + run
	if errors.Is(u.Cause, context.Canceled) || errors.Is(u.Cause, errReaderGone) {
		return hinted{err: fmt.Errorf("run %s was interrupted", run), next: resume, status: exitInterrupted}
	}
	if h.next != "" {
		resume = h.next + ", then: " + resume
	}
	return hinted{err: u.Cause, next: resume, status: h.status}
}
