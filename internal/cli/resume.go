package cli

import "github.com/spf13/cobra"

func resumeCommand(p *Invocation) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Resume an interrupted run",
		Long:  "Agents that had answered are not asked again, and nothing is posted twice. RUN is an id, a part of one, or latest.\nA finished run prints its result again.",
		RunE: func(c *cobra.Command, a []string) error {
			if err := o.result.check(); err != nil {
				return err
			}
			return p.resume(c.Context(), a[0], o)
		},
	}
	o.result.add(c)
	addFormats(c, &o.out)
	return p.ofRun(c)
}
