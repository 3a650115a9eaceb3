package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/sanitize"
)

func usageError(c *cobra.Command, err error) error {
	return advice.Error{Err: err, Next: "see: " + c.CommandPath() + " --help", Status: advice.Usage}
}

// fail prints one sentence that names what failed and one that names the next step, in GitHub Actions as an annotation too, and
// returns the exit status.
func (p *Invocation) fail(err error) int {
	h := explain(err)
	fmt.Fprintf(p.Stderr, "prloop: %s\n", progress.Uncommand(sanitize.Terminal(sanitize.Redact(h.Err.Error()))))
	if h.Next != "" {
		fmt.Fprintf(p.Stderr, "  try: %s\n", progress.Uncommand(sanitize.Terminal(sanitize.Redact(h.Next))))
	}
	if p.inActions() {
		progress.AnnotateError(p.Stderr, h.Err.Error(), h.Next)
	}
	return h.Status
}

// explain finds the row of the table that fits an error. Whatever has no row of its own is a failure without advice.
func explain(err error) advice.Error {
	var h advice.Error
	if errors.As(err, &h) {
		h.Err = err
		return h
	}
	for _, row := range table {
		if next, ok := row.match(err); ok {
			return advice.Error{Err: err, Next: next, Status: row.status}
		}
	}
	return advice.Error{Err: err, Status: advice.Failed}
}
