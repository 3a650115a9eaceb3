package store

import (
	"errors"
	"fmt"
	"strings"
)

// Errors a caller branches on, all found by errors.Is.
var (
	// ErrNotFound: no such run or effect.
	ErrNotFound = errors.New("not found")
	// ErrFull: nothing more can be written: the disk or a quota is full.
	ErrFull = errors.New("no space left for the database")
	// ErrReadOnly: the file or its folder may not be written.
	ErrReadOnly = errors.New("the database may not be written")
	// ErrBusy: another process held the database for longer than 10 seconds.
	ErrBusy = errors.New("the database is locked by another process")
	// ErrGone: the database does not answer, or not any more.
	ErrGone = errors.New("the database does not answer")
	// ErrNewer: the database was made by a newer prloop.
	ErrNewer = errors.New("the database was made by a newer prloop")
	// ErrState: an effect is not in a state from which it may go where it was asked to.
	ErrState = errors.New("not allowed in this state")
)

// CorruptError says that the file is not, or no longer, a sound database. It is never repaired by guessing (threats.md T99).
type CorruptError struct {
	Path   string
	Detail string
}

// Error names the file, what is wrong, and what a person can do.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is damaged (%s): restore it from a backup, or move it away to begin with an empty one; "+
		"what was posted stays on GitHub, unfinished runs are lost", e.Path, e.Detail)
}

// AmbiguousError says that a shortened run id means several runs.
type AmbiguousError struct {
	Part string
	// IDs are some of the runs, newest first.
	IDs []string
}

// Error lists the runs.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q means several runs: %s", e.Part, strings.Join(e.IDs, ", "))
}

// wrap names the operation and what the database refused, by the errors above.
func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	kind := s.dialect.kind(err)
	switch {
	case kind == nil:
		return fmt.Errorf("%s: %w", op, err)
	case errors.As(kind, new(*CorruptError)): // it says all there is to say
		return fmt.Errorf("%s: %w", op, kind)
	}
	return fmt.Errorf("%s: %w: %w", op, kind, err)
}
