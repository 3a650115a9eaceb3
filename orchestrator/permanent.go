package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// permanentError is an error that ends the run as failed. It comes out of a step's stored result, so it is text alone.
type permanentError struct{ text string }

func (e *permanentError) Error() string { return e.text }

// permanentMark begins the stored result of a step that ended with a permanent error. No JSON text begins so.
const permanentMark = '!'

// permanentSteps are steps whose permanent errors are stored as results. All other errors stop the run as they do in any steps:
// nothing is stored, and a resumed run tries again.
type permanentSteps struct {
	Steps
	permanent func(error) bool
}

func (s permanentSteps) Do(ctx context.Context, name string, fn func(context.Context) ([]byte, error)) ([]byte, error) {
	out, err := s.Steps.Do(ctx, name, s.storing(fn))
	if err != nil {
		return nil, err
	}
	return restored(out)
}

func (s permanentSteps) All(ctx context.Context, steps []Step) ([][]byte, []error) {
	list := slices.Clone(steps)
	for i := range list {
		list[i].Fn = s.storing(list[i].Fn)
	}
	outs, errs := s.Steps.All(ctx, list)
	for i := range list {
		if errs[i] == nil {
			outs[i], errs[i] = restored(outs[i])
		}
	}
	return outs, errs
}

func (s permanentSteps) storing(fn func(context.Context) ([]byte, error)) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		out, err := fn(ctx)
		if err == nil || ctx.Err() != nil || !s.permanent(err) {
			return out, err
		}
		return append([]byte{permanentMark}, sanitize.Redact(err.Error())...), nil
	}
}

func restored(out []byte) ([]byte, error) {
	if len(out) == 0 || out[0] != permanentMark {
		return out, nil
	}
	return nil, &permanentError{string(out[1:])}
}

// permanent reports whether no later try gets past an error.
func (l *Loop) permanent(err error) bool {
	var e *permanentError
	return errors.As(err, &e) || err != nil && l.Permanent != nil && l.Permanent(err)
}

// abandoned is the end of a run that a permanent error stopped. What was found before stays; it has no verdict, for nobody was
// told of it.
func abandoned(req Request, p progress, err error) review.RunResult {
	r := unjudged(req, p, "")
	if p.judged != nil {
		r = *p.judged
		r.Consensus, r.Rounds = nil, p.past
	}
	r.Outcome, r.Reason = review.Failed, sanitize.Redact(err.Error())
	return r
}

// judgement is Judge in a run. A fault of prloop's own in it comes back however often it is tried, so that it ends the run by name. The log has the
// stack.
func (l *Loop) judgement(in Inputs) (j Judgement, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.emit(review.Event{Kind: review.EventLog, Level: "warn", Message: sanitize.Redact(fmt.Sprintf("panic: %v\n%s", p, debug.Stack()))})
			err = &permanentError{"prloop has a fault and could not judge the answers; please report it, with the log"}
		}
	}()
	return Judge(in), nil
}
