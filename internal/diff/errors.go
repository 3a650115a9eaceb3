package diff

import (
	"errors"
	"fmt"
)

// The faults Parse and Check report, wrapped in an *Error that says where.
var (
	// ErrCombined: a merge diff (diff --cc), which shows no two trees. Ask git for two.
	ErrCombined = errors.New("combined diff of a merge")
	// ErrTruncated: a hunk ends before the lines its header promised.
	ErrTruncated = errors.New("truncated diff")
	// ErrMalformed: not what git prints.
	ErrMalformed = errors.New("malformed diff")
	// ErrIncomplete: fewer or more files than the other side counted.
	ErrIncomplete = errors.New("incomplete diff")
)

// Error says which line of the diff is at fault.
type Error struct {
	// Line is 1-based in the diff text; 0 when the fault is not one line's.
	Line int
	// Detail is a short reason in our own words: no text of the diff stands in it.
	Detail string
	// Err is one of the sentinels above.
	Err error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%v: %s", e.Err, e.Detail)
	}
	return fmt.Sprintf("line %d: %v: %s", e.Line, e.Err, e.Detail)
}

// Unwrap gives the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Check compares the diff with a count made elsewhere (GitHub's, or git's own list of changed paths): a diff cut between
// two files parses without a fault, so only a second count shows it.
func (d *Diff) Check(files int) error {
	if len(d.Files) != files {
		return &Error{Detail: fmt.Sprintf("%d files parsed, %d changed", len(d.Files), files), Err: ErrIncomplete}
	}
	return nil
}
