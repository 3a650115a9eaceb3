package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/starter"
	"github.com/prloop/prloop/sanitize"
)

func initCommand(p *Invocation) *cobra.Command {
	var o starter.Options
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a commented .reviewerc, and a workflow or a hook",
		Long: "What stands in the repository decides what is suggested. Nothing is committed, and no file that is there is replaced without\n" +
			"--force: a .reviewerc stays when a workflow or a hook is added. The hook looks at what is about to be pushed with rules and linters alone.",
		Example: "  prloop init\n  prloop init --workflow --hook",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := starter.Write(c.Context(), p.Dir, o)
			if err != nil {
				return err
			}
			for _, name := range w.Files {
				fmt.Fprintf(p.Stdout, "wrote %s\n", sanitize.Terminal(name))
			}
			fmt.Fprintf(p.Stdout, "next: prloop run --base %s\n", w.Base)
			return nil
		},
	}
	c.Flags().BoolVar(&o.Workflow, "workflow", false, "also write .github/workflows/prloop.yml, which reviews labelled pull requests")
	c.Flags().BoolVar(&o.Hook, "hook", false, "also write a pre-push hook")
	c.Flags().BoolVar(&o.Force, "force", false, "replace files that are there")
	return c
}
