package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Steps are a run's means to do things that are stored. It is for the handler's own goroutine: steps are told apart by the
// order in which they are asked for. A step must not ask for steps.
type Steps struct {
	c    dbos.Context // of the workflow; DBOS's API wants it back for every step
	live *live
}

// A Step is one thing to do, for All.
type Step struct {
	// Name is stored with the result; a run whose steps come under other names is not continued.
	Name string
	// Fn does it. Its ctx ends when the run is interrupted.
	Fn func(ctx context.Context) ([]byte, error)
}

// inStep marks the context of a running step.
type inStep struct{}

// Do does one step, or gives what it answered before. An error is a *StepError (text alone), unless the run is being
// interrupted or the database refused: then it is an *UnfinishedError, nothing was stored, and the handler should return.
func (s *Steps) Do(ctx context.Context, name string, fn func(ctx context.Context) ([]byte, error)) ([]byte, error) {
	out, errs := s.All(ctx, []Step{{name, fn}})
	return out[0], errs[0]
}

// All does the steps at the same time and gives their results by position. Each is stored when it finishes, whatever
// becomes of the others; each error is as for Do.
func (s *Steps) All(ctx context.Context, steps []Step) ([][]byte, []error) {
	outs, errs := make([][]byte, len(steps)), make([]error, len(steps))
	if ctx.Value(inStep{}) != nil {
		for i := range errs {
			errs[i] = fmt.Errorf("step %q: a step cannot have steps of its own", steps[i].Name)
		}
		return outs, errs
	}
	pending := make([]<-chan dbos.StepOutcome[[]byte], len(steps))
	for i, step := range steps {
		if s.live.ctx.Err() != nil {
			errs[i] = s.live.unfinished()
			continue
		}
		pending[i], errs[i] = dbos.Go(s.c, s.body(ctx, step), dbos.WithStepName(step.Name))
	}
	for i, ch := range pending {
		if ch != nil {
			got := <-ch
			outs[i], errs[i] = s.result(steps[i].Name, got.Result, got.Err)
		} else if !errors.Is(errs[i], ErrUnfinished) {
			errs[i] = s.broken(steps[i].Name, errs[i])
		}
	}
	return outs, errs
}

// body is what DBOS runs: the step, its outcome sealed into bytes, so that DBOS itself never sees a step fail and every
// error it gives is the engine's.
func (s *Steps) body(ctx context.Context, step Step) dbos.Step[[]byte] {
	return func(stepCtx context.Context) ([]byte, error) {
		out, err := s.call(context.WithValue(ctx, inStep{}, true), step)
		if h := (halt{}); errors.As(err, &h) {
			s.live.cancel(h.error)
		}
		// A step that saw the interruption may answer anything, "cancelled" dressed up as a result too. DBOS records
		// nothing once its own context is done, and that is about to be: Engine.execute shuts it down.
		if s.live.ctx.Err() != nil {
			<-stepCtx.Done()
		}
		return seal(out, err), nil
	}
}

// call runs the step's function; a panic is an error of the step.
func (s *Steps) call(ctx context.Context, step Step) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.live.log.Error("step panicked", "step", step.Name, "panic", p, "stack", string(debug.Stack()))
			out, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return step.Fn(ctx)
}

func (s *Steps) result(name string, sealed []byte, err error) ([]byte, error) {
	if s.live.ctx.Err() != nil && err != nil {
		return nil, s.live.unfinished()
	}
	if err != nil {
		return nil, s.broken(name, err)
	}
	out, text, err := unseal(sealed)
	switch {
	case err != nil:
		return nil, s.broken(name, err)
	case text != nil:
		return nil, &StepError{Step: name, Text: *text}
	}
	return out, nil
}

// broken stops the run because a step's result could not be read or stored.
func (s *Steps) broken(name string, err error) error {
	s.live.cancel(fmt.Errorf("step %q: %w", name, cause(err)))
	return s.live.unfinished()
}
