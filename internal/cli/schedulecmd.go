package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func scheduleCommand(p *Invocation) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "schedule [JOB]",
		Short: "Run a scheduled job from .reviewerc and open a pull request",
		Long: "JOB is one of schedule.runs in the .reviewerc of the default branch; in GitHub Actions it is the workflow's job (GITHUB_JOB).\n" +
			"Its commands work on the default branch, and what they commit and ask for becomes one pull request, opened or updated.\n" +
			"A job that is not there, is disabled, or whose conditions are not met does nothing, says so and exits with 0.",
		Example: "  prloop schedule nightly-docs -R owner/repo\n  prloop schedule nightly-docs --dry-run",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			job := p.env("GITHUB_JOB")
			if len(a) == 1 {
				job = a[0]
			}
			if job == "" {
				return advice.Misuse("prloop schedule JOB; .reviewerc names the jobs in schedule.runs", "no job is named, and GITHUB_JOB is not set")
			}
			if err := errors.Join(o.takeSettings(c, nil), o.result.check()); err != nil {
				return err
			}
			return p.schedule(c.Context(), job, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.repo, "repo", "R", "", "`[HOST/]OWNER/REPO` whose job it is")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the changes and the pull request, push and open nothing")
	o.addEndpoint(c)
	o.result.add(c)
	return c
}

// schedule is `prloop schedule`.
func (p *Invocation) schedule(ctx context.Context, job string, o runOptions) error {
	if err := p.readKey(&o); err != nil {
		return err
	}
	order, err := p.order(o)
	if err != nil {
		return err
	}
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	repo, err := s.Repository(ctx, cmp.Or(o.repo, p.env("GH_REPO"), p.env("GITHUB_REPOSITORY")), p.Dir)
	if err != nil {
		return err
	}
	order.Target = review.Target{Repo: repo, Job: job}
	prepared, err := s.PrepareJob(ctx, order)
	var idle *app.IdleError
	if errors.As(err, &idle) {
		fmt.Fprintln(p.Stderr, runnerlog.Inert(sanitize.Terminal(idle.Error())))
		return nil
	}
	if err != nil {
		return err
	}
	view := p.view(o)
	ended, err := s.Start(ctx, prepared, view.Event)
	if err != nil {
		view.Close()
		return stopped(prepared.Request.Run, err)
	}
	return p.finish(s, ended, o, view)
}
