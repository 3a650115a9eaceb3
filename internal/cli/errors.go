package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/internal/troubleshoot"
	"github.com/prloop/prloop/sanitize"
)

func usageError(c *cobra.Command, err error) error {
	return advice.Error{Err: err, Next: "see: " + c.CommandPath() + " --help", Status: advice.Usage}
}

// fail prints one sentence that names what failed and one that names the next step, in GitHub Actions as an annotation too, and
// returns the exit status.
func (p *Invocation) fail(err error) int {
	h := troubleshoot.Explain(err)
	fmt.Fprintf(p.Stderr, "prloop: %s\n", runnerlog.Inert(sanitize.Terminal(sanitize.Redact(h.Err.Error()))))
	if h.Next != "" {
		fmt.Fprintf(p.Stderr, "  try: %s\n", runnerlog.Inert(sanitize.Terminal(sanitize.Redact(h.Next))))
	}
	if p.inActions() {
		progress.AnnotateError(p.Stderr, h.Err.Error(), h.Next)
	}
	return h.Status
}
