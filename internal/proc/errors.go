package proc

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// ErrNotFound is wrapped by the error of Run and LookPath when there is no such program.
var ErrNotFound = errors.New("program not found")

// ExitError is the error of a child that started and did not end by itself with status 0.
type ExitError struct {
	// Path is the program.
	Path string
	// Code, Signal, Reason, Took and StderrTail are those of the Result; StderrTail is raw.
	Code       int
	Signal     string
	Reason     Reason
	Took       time.Duration
	StderrTail []byte
	// Idle is the Spec's.
	Idle time.Duration
	// Cause is the context's cause, or what the receiver of the output said; often nil.
	Cause error
}

// Error names the program, what became of it and its running time. Standard error is not in it: it is raw, and
// whoever prints it sanitizes it.
func (e *ExitError) Error() string {
	what := e.Kind()
	switch {
	case e.Cause != nil && e.Reason.greedy():
		what = fmt.Sprintf("stopped: %v (%s)", e.Cause, e.Reason)
	case e.Cause != nil && what == e.stopped():
		what = fmt.Sprintf("stopped (%s): %v", e.Reason, e.Cause)
	}
	return fmt.Sprintf("run %s: %s after %s", filepath.Base(e.Path), what, Seconds(e.Took))
}

// Kind is what became of the child, in words that name nothing and repeat nobody.
func (e *ExitError) Kind() string {
	switch e.Reason {
	case ReasonNone:
		if e.Signal != "" {
			return "ended by signal: " + e.Signal
		}
		return fmt.Sprintf("exit status %d", e.Code)
	case ReasonTimeout:
		return "stopped: out of time"
	case ReasonIdle:
		return "stopped: said nothing for " + e.Idle.String()
	case ReasonFirstByte:
		return "stopped: never said anything"
	case ReasonLinger:
		return "stopped: ran on after it closed its output"
	case ReasonOutputLimit:
		return "stopped: wrote too much"
	case ReasonLineLimit:
		return "stopped: wrote a line that is too long"
	case ReasonLeashLost:
		return "its supervisor was killed"
	}
	return e.stopped()
}

func (e *ExitError) stopped() string { return fmt.Sprintf("stopped (%s)", e.Reason) }

// Unwrap gives the cause.
func (e *ExitError) Unwrap() error { return e.Cause }

// Seconds formats a running time for people: 12.3s, 4m10s.
func Seconds(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond * 10).String()
}
