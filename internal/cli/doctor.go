package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/doctor"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/sanitize"
)

func doctorCommand(p *Invocation) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the environment and suggest fixes",
		Long:  "Looks at git, gh and its login, the model endpoint, the configuration, the state folder, the isolation of agents, the\nlinters and ACP agents that are installed, and where verify commands find packages.\nExit status 0 when a pull request can be reviewed, 1 otherwise.",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			status, all := 0, []doctor.Checkup{}
			p.doctor().Examine(c.Context(), func(r doctor.Checkup) {
				r.Note = sanitize.Redact(r.Note)
				if all = append(all, r); !asJSON {
					p.printCheckup(r)
				}
				if r.State == doctor.Broken {
					status = advice.Failed
				}
			})
			if asJSON {
				if err := progress.JSON(p.Stdout, all); err != nil {
					return err
				}
			}
			if status != 0 {
				return exitStatus(status)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (p *Invocation) doctor() *doctor.Doctor {
	return &doctor.Doctor{
		Env: p.Env, Dir: p.Dir, Operator: p.operator(), Open: p.open, StateFolder: p.stateFolder, Log: p.logger(),
		Order: func() (app.Order, error) { return p.order(runOptions{}) },
	}
}

// printCheckup prints a checkup as a row, and below it what to do.
func (p *Invocation) printCheckup(r doctor.Checkup) {
	fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", r.State, r.What, p.beside(sanitize.Terminal(r.Note)))
	if r.Next != "" {
		fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", "", "", p.beside("try: "+sanitize.Terminal(r.Next)))
	}
}

// beside breaks text for the third column on a terminal; a line that is read by a program stays one.
func (p *Invocation) beside(text string) string {
	if !p.terminal(p.Stdout) {
		return text
	}
	return progress.Wrap(text, p.width()-1, 20)
}
