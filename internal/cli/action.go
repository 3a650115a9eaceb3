package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/actions"
	"github.com/prloop/prloop/internal/actionsjob"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func actionCommand(p *Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Handle the event of a GitHub Actions job",
		Long: "Reads the event of the job: pull requests are reviewed, comments such as \"!prloop review\" answered, and schedules do\n" +
			"the job of that name in .reviewerc. Any other event is a line in the log and status 0. The inputs of the action stand in PRLOOP_INPUTS, as JSON. docs/ci.md has workflows.",
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return p.action(c.Context()) },
	}
}

func (p *Invocation) action(ctx context.Context) error {
	j, err := actionsjob.Read(p.env)
	if err != nil {
		return err
	}
	options := func(fixes bool) runOptions {
		o := runOptions{target: fmt.Sprint(j.PR), repo: j.Repository, reviewers: j.Reviewers, settings: j.Settings, dryRun: j.Fork, noFix: !fixes}
		o.out.SARIF = j.SARIF
		if o.noFix {
			o.settings = append(o.settings[:len(o.settings):len(o.settings)], config.Given{Key: "fixer", Value: config.UseNone, From: "input fix"})
		}
		return o
	}
	order, err := p.order(options(j.Fixes()))
	if err != nil {
		return err
	}
	settings, err := order.EarlySettings(false)
	if err != nil {
		return err
	}
	if err := j.CheckWeb(settings); err != nil {
		return err
	}
	log := func(why string) { fmt.Fprintf(p.Stdout, "prloop: %s\n", progress.Uncommand(sanitize.Terminal(why))) }
	switch j.Do {
	case actions.Review:
		if j.Fork {
			p.note("a fork's pull request: the token of the job cannot write, so the report stands in the step summary")
		}
		return p.run(ctx, options(j.Fixes()))
	case actions.Comment:
		return p.answer(ctx, j, options, log)
	case actions.Schedule:
		return p.schedule(ctx, j.Job, options(false))
	}
	log(j.Why)
	return nil
}

// answer answers the comment of a job.
func (p *Invocation) answer(ctx context.Context, j actionsjob.Job, options func(fixes bool) runOptions, log func(string)) error {
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	return j.Answer(ctx, actionsjob.Answers{
		Service: s, Log: log,
		Order: func(fixes bool) (app.Order, error) {
			o := options(fixes)
			order, err := p.order(o)
			if err == nil {
				order.Target, err = p.target(ctx, s, o)
			}
			return order, err
		},
		Begin: func() (func(review.Event), func(app.Ended, error) error) {
			view := p.view(runOptions{})
			return view.Event, func(ended app.Ended, err error) error {
				if err != nil {
					view.Close()
					return stopped(ended.Result.Run, err)
				}
				return p.finish(s, ended, options(false), view)
			}
		},
	})
}
