package doctor

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/sanitize"
)

// Command is `prloop doctor`.
func Command(h host.Host) subcommand.Command {
	f := subcommand.Flags("doctor")
	asJSON := f.Bool("json", false, "print JSON")
	return subcommand.Command{
		Use:   "doctor",
		Short: "Check the environment and suggest fixes",
		Long:  "Looks at git, gh and its login, the model endpoint, the configuration, the state folder, the isolation of agents, the\nlinters and ACP agents that are installed, and where verify commands find packages. The last\nline says what can be reviewed.\nExit status 0 when a pull request can be reviewed, or local changes in a checkout without a remote;\n1 otherwise.",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, _ []string) error {
			status, all := 0, []Checkup{}
			d := &Doctor{Env: p.Env, Dir: p.Dir, Operator: h.Operator, Open: h.Open, StateFolder: h.StateFolder, Log: h.Log(), Order: h.Order}
			d.Examine(ctx, func(r Checkup) {
				r.Note = sanitize.Redact(r.Note)
				if all = append(all, r); !*asJSON {
					r.print(p)
				}
				if r.State == Broken {
					status = advice.Failed
				}
			})
			if *asJSON {
				if err := progress.JSON(p.Stdout, all); err != nil {
					return err
				}
			}
			if status != 0 {
				return subcommand.Status(status)
			}
			return nil
		},
	}
}

// print prints a checkup as a row, and below it what to do.
func (c Checkup) print(p subcommand.Process) {
	fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", c.State, c.What, beside(p, sanitize.Terminal(c.Note)))
	if c.Next != "" {
		fmt.Fprintf(p.Stdout, "%-8s %-10s %s\n", "", "", beside(p, "try: "+sanitize.Terminal(c.Next)))
	}
}

// beside breaks text for the third column on a terminal; a line that is read by a program stays one.
func beside(p subcommand.Process, text string) string {
	if !p.Terminal {
		return text
	}
	return progress.Wrap(text, p.Width-1, 20)
}
