package orchestrator

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// What agents and commands are given ends with the wall time or with a stop, whichever comes first, and their receipts say which.
func TestWhatEndsAgents(t *testing.T) {
	stopping := func(ctx context.Context) (context.Context, func()) {
		watched, cancel := context.WithCancelCause(ctx)
		cancel(&StopError{Why: "mona asked for a stop"})
		return watched, func() {}
	}
	waiting := func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) }
	for _, c := range []struct {
		what  string
		watch func(context.Context) (context.Context, func())
		left  time.Duration
		want  review.AgentReceipt
		words string
	}{
		{"the wall time", waiting, 0, review.AgentReceipt{State: review.AgentFailed, Reason: "cut", OutOf: "wall time"}, "had not ended when the run's wall time was used up\n"},
		{"the wall time, and nobody can stop it", nil, 0, review.AgentReceipt{State: review.AgentFailed, Reason: "cut", OutOf: "wall time"}, "had not ended when the run's wall time was used up\n"},
		{"a stop", stopping, time.Hour, review.AgentReceipt{State: review.AgentFailed, Reason: "mona asked for a stop"}, "had not ended when the run was stopped: mona asked for a stop\n"},
	} {
		l := &Loop{Watch: c.watch}
		ctx, done := l.limited(t.Context(), c.left)
		<-ctx.Done()
		r := review.AgentReceipt{State: review.AgentFailed, Reason: "cut"}
		if cut(ctx, &r); r.State != c.want.State || r.Reason != c.want.Reason || r.OutOf != c.want.OutOf {
			t.Errorf("%s: %+v", c.what, r)
		}
		whole := review.AgentReceipt{State: review.AgentComplete}
		if cut(ctx, &whole); whole.Reason != "" || whole.OutOf != "" {
			t.Errorf("%s: one that had answered: %+v", c.what, whole)
		}
		if got := cutWords(ctx); got != c.words {
			t.Errorf("%s: %q", c.what, got)
		}
		done()
	}
	ctx, done := (&Loop{Watch: waiting}).limited(t.Context(), time.Hour)
	if done(); !errors.Is(ctx.Err(), context.Canceled) || errors.As(context.Cause(ctx), new(*StopError)) {
		t.Errorf("after the work: %v", context.Cause(ctx))
	}
}
