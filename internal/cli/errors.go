package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/sanitize"
)

// Exit statuses that are not outcomes of a run. Documented and never renumbered.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// hinted is an error with the next step for the person and the exit status.
type hinted struct {
	err    error
	next   string
	status int
}

func (h hinted) Error() string { return h.err.Error() }
func (h hinted) Unwrap() error { return h.err }

// usage is a mistake in how the program was called or configured.
func usage(next, format string, args ...any) error {
	return hinted{err: fmt.Errorf(format, args...), next: next, status: exitUsage}
}

func usageError(c *cobra.Command, err error) error {
	return hinted{err: err, next: "see: " + c.CommandPath() + " --help", status: exitUsage}
}

// fail prints one sentence that names what failed and one that names the next step, and returns the exit status.
func fail(w io.Writer, err error) int {
	h := explain(err)
	fmt.Fprintf(w, "prloop: %s\n", progress.Uncommand(sanitize.Terminal(sanitize.Redact(h.err.Error()))))
	if h.next != "" {
		fmt.Fprintf(w, "  try: %s\n", sanitize.Terminal(h.next))
	}
	return h.status
}

// explain finds the row of the table that fits an error. Whatever has no row of its own is a failure without advice.
func explain(err error) hinted {
	var h hinted
	if errors.As(err, &h) {
		h.err = err
		return h
	}
	for _, row := range table {
		if next, ok := row.match(err); ok {
			return hinted{err: err, next: next, status: row.status}
		}
	}
	return hinted{err: err, status: exitFailed}
}
