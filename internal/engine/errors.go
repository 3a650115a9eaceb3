package engine

import (
	"errors"
	"fmt"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// Errors a caller branches on, all found by errors.Is.
var (
	// ErrBusy: this run is being executed right now, by another process or another call.
	ErrBusy = errors.New("this run is already being executed")
	// ErrNotFound: no run with this id was ever started here.
	ErrNotFound = errors.New("no such run")
	// ErrUnfinished: the run was interrupted or halted; it is pending and Resume continues it. See UnfinishedError.
	ErrUnfinished = errors.New("the run is unfinished")
	// ErrVersion: the run was started by a prloop whose steps come in another order; this one cannot continue it.
	ErrVersion = errors.New("the run was started by another version of prloop")
	// ErrClosed: the engine was closed.
	ErrClosed = errors.New("the engine is closed")
)

// UnfinishedError says why a run stopped before its end. Nothing was recorded for the steps that were running; the run is
// pending and Resume continues it.
type UnfinishedError struct {
	ID string
	// Cause is the cause of the caller's context when that ended (errors.Is finds context.Canceled), what Halt was given,
	// or what the database refused.
	Cause error
}

// Error names the run and the cause.
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s stopped before its end: %v", e.ID, e.Cause)
}

// Unwrap gives the cause.
func (e *UnfinishedError) Unwrap() error { return e.Cause }

// Is reports that every UnfinishedError is ErrUnfinished.
func (e *UnfinishedError) Is(target error) bool { return target == ErrUnfinished }

// StepError is a step's error as it was stored. It is text alone, the first time as after a restart, so that no code can
// come to depend on an error value that a resumed run would not have. A step that fails in a way the run must act on says
// so in its result bytes.
type StepError struct {
	Step string
	Text string
}

// Error names the step and its error.
func (e *StepError) Error() string { return e.Step + ": " + e.Text }

// RunError is the error a finished run ended with, as it was stored: text alone.
type RunError struct {
	ID   string
	Text string
}

// Error names the run and its error.
func (e *RunError) Error() string { return fmt.Sprintf("run %s failed: %s", e.ID, e.Text) }

// halt marks an error that stops the run without being recorded.
type halt struct{ error }

func (h halt) Unwrap() error { return h.error }

// Halt marks err, returned by a step or by the handler, as one that somebody can remove: a missing permission, a full
// disk. The run stops there with nothing recorded, Run returns an UnfinishedError around err, and Resume does the step
// again. An error that is not marked is the step's stored answer.
func Halt(err error) error {
	if err == nil {
		return nil
	}
	return halt{err}
}

// cause takes DBOS's wrappings off an error; they repeat ids our own errors name. Steps that differ from the stored ones
// are ErrVersion: the handler changed while the version did not.
func cause(err error) error {
	for de := (*dbos.Error)(nil); errors.As(err, &de); {
		if de.Code == dbos.ErrorCodeUnexpectedStep {
			return fmt.Errorf("%w: step %q was stored as %q", ErrVersion, de.ExpectedName, de.RecordedName)
		}
		inner := errors.Unwrap(de)
		if inner == nil {
			return errors.New(de.Message)
		}
		err = inner
	}
	return err
}
