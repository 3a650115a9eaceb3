// Package advice is an error that says what a person can do next, and which exit status the process ends with.
package advice

import "fmt"

// Exit statuses that are not outcomes of a run. Documented and never renumbered.
const (
	Failed      = 1
	Usage       = 2
	Interrupted = 130
)

// Error is an error with the next step for the person and the exit status.
type Error struct {
	Err    error
	Next   string
	Status int
}

func (e Error) Error() string { return e.Err.Error() }

// Unwrap gives the error behind the advice.
func (e Error) Unwrap() error { return e.Err }

// Misuse is a mistake in how the program was called or configured.
func Misuse(next, format string, args ...any) error {
	return Error{Err: fmt.Errorf(format, args...), Next: next, Status: Usage}
}
