package cli

import (
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
)

// commandCommand is `prloop command`.
func commandCommand(p *Invocation) *cobra.Command {
	var o runOptions
	var pr string
	c := &cobra.Command{
		Use:   "command ID [ARGS...] [--pr PR | --base REVISION]",
		Short: "Run a command from .reviewerc",
		Long: "Runs one command of .reviewerc on the pull request of the current branch, on another one (--pr), or on local changes (--base), and posts its answer.\n" +
			"ARGS are passed as they are; put -- before arguments that begin with a dash.\n" +
			"Exit status 0 when the command answered and found nothing to fix, 3 when it did.",
		Example: "  prloop command security --pr 123\n  prloop command docs-drift --base main -- \"last 48 hours\" --scope docs/",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if err := o.takeSettings(c, nil); err != nil {
				return err
			}
			if o.target = pr; pr != "" && o.base != "" {
				return advice.Misuse("use one of them", "--base and --pr name different changes")
			}
			if err := o.result.check(); err != nil {
				return err
			}
			o.command = &app.CommandOrder{ID: a[0], Argv: a[1:]}
			return p.run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&pr, "pr", "", "`PR`, as a number, address or branch")
	f.StringVarP(&o.repo, "repo", "R", "", "`[HOST/]OWNER/REPO` of the pull request")
	f.StringVar(&o.base, "base", "", "take all local changes since `REVISION`")
	f.BoolVar(&o.dryRun, "dry-run", false, "post nothing; print the answer")
	f.String("folders", "", "`NAMES` of folders of the workspace that it may read")
	o.result.add(c)
	o.addEndpoint(c)
	return c
}
