package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// measuringFence stands in for the random word of a run where a task names none.
const measuringFence = "measuring0fence0word"

func agentPromptsCommand(p *Proc) *cobra.Command {
	return &cobra.Command{
		Use:   "prompts TASK.json...",
		Short: "Print how much of the prompt five reviewers share",
		Long: "Renders the prompts of five builtin reviewers with different lenses for each request and prints which share of their\n" +
			"bytes is one common beginning, which providers cache. \"-\" reads standard input.",
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			for _, file := range files {
				task, err := readEnvelope(p, file, func(data []byte) (review.Task, wire.Notes, error) {
					return wire.DecodeTask(data)
				})
				if err != nil {
					return err
				}
				s, err := prompts.Measure(task, cmp.Or(task.Settings["fence"], measuringFence))
				if err != nil {
					return fmt.Errorf("render %s: %w", file, err)
				}
				fmt.Fprintf(p.Stdout, "%s: %d reviewers share their first %d bytes: %.1f %% of what they are sent\n",
					sanitize.Terminal(file), s.Reviewers, s.Common, 100*s.Ratio())
			}
			return nil
		},
	}
}
