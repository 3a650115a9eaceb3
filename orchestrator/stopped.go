package orchestrator

import (
	"context"
	"errors"
	"time"

	"github.com/prloop/prloop/review"
)

// StopError is the cause of a context that ended because somebody asked, in a comment, that the run stop (decision 49). Agents and commands
// end with it at once; the run then ends before it says or pushes anything.
type StopError struct{ Why string }

// Error says who asked.
func (e *StopError) Error() string { return e.Why }

// limited gives agents or commands what is left of the run's wall time. It ends sooner once somebody asks the run to stop. done is to be called
// when they have ended.
func (l *Loop) limited(ctx context.Context, left time.Duration) (limited context.Context, done func()) {
	limited, cancel := context.WithTimeoutCause(ctx, left, errWallTime)
	if l.Watch == nil {
		return limited, cancel
	}
	watched, leave := l.Watch(limited)
	return watched, func() {
		leave()
		cancel()
	}
}

// cut writes into the receipt of an agent that did not end by itself why it was ended.
func cut(limited context.Context, r *review.AgentReceipt) {
	var stop *StopError
	switch cause := context.Cause(limited); {
	case r.State == review.AgentComplete:
	case errors.As(cause, &stop):
		r.Reason, r.Detail = stop.Why, ""
	case errors.Is(cause, errWallTime):
		r.OutOf = "wall time"
	}
}

// cutWords says of a command why it was ended.
func cutWords(limited context.Context) string {
	if stop := (*StopError)(nil); errors.As(context.Cause(limited), &stop) {
		return "had not ended when the run was stopped: " + stop.Why + "\n"
	}
	return "had not ended when the run's wall time was used up\n"
}
