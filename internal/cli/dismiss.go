package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/subcommand/host"
)

func dismissCommand(p *Invocation) *cobra.Command {
	var o app.Dismissing
	c := &cobra.Command{
		Use:   "dismiss ID",
		Short: "Dismiss a finding, so that it is listed but not counted",
		Long: "ID is the identity of a finding of the latest run, or the beginning of one, as prloop run and prloop show print it. The line is added\n" +
			"to .prloop-ignore in the working tree and dismisses the finding even if it is worded differently or moves to another line. For a pull\n" +
			"request it counts once it is on the base branch. P0, P1 and security count on until somebody other than the author\n" +
			"has merged the line, and always in a local review.",
		Example: "  prloop dismiss 3f2a91c0 --reason \"the pool closes it\"\n  prloop dismiss 3f2a91c0 --reason \"after the release\" --until 2027-03-31",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if o.ID = a[0]; o.ID == "" {
				return &app.NoFindingError{Run: o.Run}
			}
			return p.dismiss(c, o)
		},
	}
	c.Flags().StringVar(&o.Reason, "reason", "", "why it need not be fixed, in `TEXT`; required")
	p.addDismissing(c, &o)
	return c
}

func baselineCommand(p *Invocation) *cobra.Command {
	o := app.Dismissing{Reason: "baseline"}
	c := &cobra.Command{
		Use:   "baseline",
		Short: "Dismiss all findings of a run except P0, P1 and security",
		Long: "Begins with old code: what is found in it today is listed and not counted, and what is new counts. The lines are added to\n" +
			".prloop-ignore, as prloop dismiss adds one. P0, P1 and security are left out; each needs a line of its own.",
		Example: "  prloop run --all; prloop baseline",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return p.dismiss(c, o) },
	}
	c.Flags().StringVar(&o.Reason, "reason", o.Reason, "why they need not be fixed, in `TEXT`")
	p.addDismissing(c, &o)
	return c
}

func (p *Invocation) addDismissing(c *cobra.Command, o *app.Dismissing) {
	c.Flags().StringVar(&o.Until, "until", "", "the last `DAY` it holds, such as 2027-03-31; without it there is none")
	c.Flags().StringVar(&o.Run, "run", app.Latest, "the `RUN` whose findings are meant: an id, a part of one, or latest")
	_ = c.RegisterFlagCompletionFunc("run", func(c *cobra.Command, _ []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.completeRuns(c, nil, part)
	})
}

func (p *Invocation) dismiss(c *cobra.Command, o app.Dismissing) error {
	s, err := p.open(c.Context())
	if err != nil {
		return err
	}
	defer s.Close(c.Context())
	run, err := host.Find(c.Context(), s, o.Run)
	if err != nil {
		return err
	}
	o.Run, o.Dir, o.Env = run.ID, p.Dir, p.env
	said, err := s.Dismiss(c.Context(), o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(p.Stdout, progress.Dismissed(said.Path, said.Lines, said.Grave, said.Left, said.Known))
	return err
}
