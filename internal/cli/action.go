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
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func actionCommand(p *Invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Handle the event of a GitHub Actions job",
		Long: "Reads the event of the job: pull requests are reviewed, comments such as \"!prloop review\" answered, and schedules do\n" +
			"the job of that name in .reviewerc. Any other event is a line in the log, and the status is that of the last report of its commit, or 0.\n" +
			"The inputs of the action stand in PRLOOP_INPUTS, as JSON. docs/ci.md has workflows.",
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
		o := runOptions{target: fmt.Sprint(j.PR), repo: j.Repository, head: j.Head, reviewers: j.Reviewers, settings: j.Settings, dryRun: j.Fork, noFix: !fixes, itself: j.Itself(), since: j.At}
		o.out.SARIF, o.bot = j.SARIF, j.Bot
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
	log := func(why string) { fmt.Fprintf(p.Stdout, "prloop: %s\n", runnerlog.Inert(sanitize.Terminal(why))) }
	switch j.Do {
	case actions.Comment:
		return p.answer(ctx, j, options, log)
	case actions.Schedule:
		return p.schedule(ctx, j.Job, options(false))
	}
	if err := p.warnNewKey(ctx, j); err != nil {
		return err
	}
	if j.Do == actions.Nothing && j.Anew && !j.Fork {
		if err := p.notYet(ctx, j, options(false)); err != nil {
			return err
		}
	}
	if j.Do != actions.Review {
		outcome, url, err := p.lastWord(ctx, j, options(false))
		switch {
		case err != nil:
			return err
		case outcome != "":
			log(fmt.Sprintf("%s; the last report of %.7s says %s: %s", j.Why, j.Head, outcome, url))
			return exitStatus(outcome.ExitStatus())
		case j.Do == actions.Nothing:
			log(j.Why)
			return nil
		}
	}
	if j.Fork {
		p.note("a fork's pull request: the token of the job cannot write, so the report stands in the step summary")
	}
	return p.run(ctx, options(j.Fixes()))
}

// noKey is what a job is told that has no key which the next one will have too.
const noKey = "`PRLOOP_MARKER_KEY` is not set, so the next job will not know the comments and threads of this one: it says the same again, resolves no thread, and may never approve. " +
	"Make a key once, `openssl rand -hex 32 | gh secret set PRLOOP_MARKER_KEY`, and give it to the step of prloop: `env: {PRLOOP_MARKER_KEY: ${{ secrets.PRLOOP_MARKER_KEY }}}`"

// warnNewKey warns a job that may review with an empty state folder and no key. One of a fork is given no secrets and posts nothing.
func (p *Invocation) warnNewKey(ctx context.Context, j actionsjob.Job) error {
	if j.Fork || j.Do == actions.Nothing {
		return nil
	}
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	fresh, err := s.NewKey(ctx)
	if err != nil || !fresh {
		return err
	}
	return p.sayNewKey()
}

// sayNewKey says it once, in the log and in the step summary.
func (p *Invocation) sayNewKey() error {
	progress.AnnotateWarning(p.Stdout, noKey)
	if path := p.env("GITHUB_STEP_SUMMARY"); path != "" {
		return progress.StepSummary(path, "**Warning:** "+noKey+".\n", sanitize.Policy{})
	}
	return nil
}

// lastWord is what the newest report says of the commit of an event that leads to no review. The check of such a job takes the place of the one before on that
// commit, so it has to say the same (threats.md T460). The outcome is empty where no report says anything of it.
func (p *Invocation) lastWord(ctx context.Context, j actionsjob.Job, o runOptions) (review.Outcome, string, error) {
	if j.Head == "" {
		return "", "", nil
	}
	s, err := p.openToRun(ctx)
	if err != nil {
		return "", "", err
	}
	defer s.Close(ctx)
	target, err := p.target(ctx, s, o)
	if err != nil {
		return "", "", err
	}
	return s.LastWord(ctx, target, j.Head)
}

// notYet takes back what was said of the commit of a pull request that is not reviewed for its base branch: it has no label, or is a draft (threats.md T220, T803).
func (p *Invocation) notYet(ctx context.Context, j actionsjob.Job, o runOptions) error {
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	target, err := p.target(ctx, s, o)
	if err != nil {
		return err
	}
	client, err := s.GitHubFor(ctx, target.Repo)
	if err != nil {
		return err
	}
	pr, err := client.PullRequest(ctx, target.Repo, target.PR)
	if err != nil || pr.State != "OPEN" || pr.HeadSHA != j.Head { // another event tells of that head
		return err
	}
	return s.NotYet(ctx, pr, true, false)
}

// answer answers the comment of a job.
func (p *Invocation) answer(ctx context.Context, j actionsjob.Job, options func(fixes bool) runOptions, log func(string)) error {
	s, err := p.openToRun(ctx)
	if err != nil {
		return err
	}
	defer s.Close(ctx)
	fresh, err := s.NewKey(ctx)
	if err != nil {
		return err
	}
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
			if fresh {
				fresh = false
				if err := p.sayNewKey(); err != nil {
					p.note(err.Error())
				}
			}
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
