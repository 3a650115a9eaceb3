package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/formats"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/subcommand"
	"github.com/prloop/prloop/internal/subcommand/host"
	"github.com/prloop/prloop/sanitize"
)

func runsCommand(p *Invocation) *cobra.Command {
	var repo string
	var pr, limit int
	var list listFlags
	c := &cobra.Command{
		Use:     "runs",
		Short:   "List runs",
		Long:    "A run is running, interrupted (no process works on it; continue it with prloop resume) or finished.",
		Example: "  prloop runs --pr 123\n  prloop runs --json run,outcome --jq '.[] | select(.outcome != \"converged\") | .run'",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.check(progress.RunFields); err != nil {
				return err
			}
			f := store.Filter{PR: pr, Limit: limit}
			if repo != "" {
				r, err := github.ParseRepo(repo, github.DefaultHost(p.Env))
				if err != nil {
					return err
				}
				f.Repo = r.String()
			}
			s, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			runs, err := s.Runs(c.Context(), f)
			if err != nil {
				return err
			}
			if len(list.fields) == 0 {
				return p.printRuns(runs)
			}
			rows := make([]map[string]any, len(runs))
			for i, r := range runs {
				rows[i] = progress.RunRow(r)
			}
			return list.print(p.Stdout, rows, p.width(), p.color())
		},
	}
	c.Flags().StringVarP(&repo, "repo", "R", "", "only runs of `[HOST/]OWNER/REPO`")
	c.Flags().IntVar(&pr, "pr", 0, "only runs of pull request `N`")
	c.Flags().IntVarP(&limit, "limit", "L", 30, "at most `N` runs")
	list.add(c, progress.RunFields)
	c.AddCommand(pruneCommand(p))
	return c
}

func pruneCommand(p *Invocation) *cobra.Command {
	var older string
	var keep int
	c := &cobra.Command{
		Use:   "prune",
		Short: "Forget finished runs and remove their files",
		Long: "Runs that are running or interrupted stay, and so do those of the last 24 hours that called a model: daily budgets are counted\n" +
			"from them. What a forgotten run spent no longer counts for its pull request's budget, and its commit is reviewed anew.",
		Example: "  prloop runs prune --older 30d\n  prloop runs prune --keep 50",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if keep < 0 {
				return advice.Misuse("prloop runs prune --keep 50", "--keep: %d is less than 0", keep)
			}
			if older == "" && !c.Flags().Changed("keep") {
				return advice.Misuse("prloop runs prune --older 30d, or --keep 50", "which runs to forget is not said")
			}
			age, err := app.Age(older)
			if err != nil {
				return advice.Misuse("--older 30d, 12h or 90m", "--older: %w", err)
			}
			s, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			n, err := s.Prune(c.Context(), time.Now().Add(-age), keep)
			fmt.Fprintf(p.Stdout, "forgot %s\n", subcommand.Plural(n, "run", "runs"))
			return err
		},
	}
	c.Flags().StringVar(&older, "older", "", "runs that began longer ago than `AGE`, such as 30d or 12h")
	c.Flags().IntVar(&keep, "keep", 0, "keep the newest `N` runs")
	return c
}

// completeRuns completes the id of a run in a shell.
func (p *Invocation) completeRuns(c *cobra.Command, a []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := p.open(c.Context())
	if err != nil || len(a) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close(c.Context())
	out := []cobra.Completion{cobra.CompletionWithDesc(app.Latest, "the newest run")}
	runs, _ := s.Runs(c.Context(), store.Filter{Limit: 20}) // without them there is nothing to complete
	for _, r := range runs {
		out = append(out, cobra.CompletionWithDesc(r.ID, sanitize.Terminal(r.Target.String()+", "+progress.Stands(r))))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// ofRun makes a command act on the run its argument names or, without an argument on a terminal, on one a person chooses.
func (p *Invocation) ofRun(c *cobra.Command) *cobra.Command {
	act := c.RunE
	c.ValidArgsFunction = p.completeRuns
	c.Args = func(c *cobra.Command, a []string) error {
		if len(a) == 0 && !p.interactive() {
			return advice.Misuse(c.CommandPath()+" latest, or another run: prloop runs", "%s needs RUN", within(c))
		}
		return args(cobra.MaximumNArgs(1))(c, a)
	}
	c.RunE = func(c *cobra.Command, a []string) error {
		if len(a) == 0 {
			id, err := p.choose(c.Context())
			if err != nil {
				return err
			}
			a = []string{id}
		}
		return act(c, a)
	}
	return c
}

// choose lets a person choose one of the newest runs.
func (p *Invocation) choose(ctx context.Context) (string, error) {
	s, err := p.open(ctx)
	if err != nil {
		return "", err
	}
	defer s.Close(ctx)
	runs, err := s.Runs(ctx, store.Filter{Limit: 10})
	if err != nil {
		return "", err
	}
	id, err := progress.Choose(p.Stdin, p.Stderr, runs, p.width(), time.Now())
	if err != nil {
		return "", advice.Misuse("prloop runs lists them", "%w", err)
	}
	return id, nil
}

// find finds a run by a part of its id, and says where the latest run is about another repository than the checkout here.
func (p *Invocation) find(ctx context.Context, s *app.Service, part string) (store.Run, error) {
	run, err := host.Find(ctx, s, part)
	if err == nil && part == app.Latest {
		if other := s.Elsewhere(ctx, run, p.Dir); other != nil {
			p.note("the latest " + other.Error() + "; prloop runs lists all")
		}
	}
	return run, err
}

func (p *Invocation) printRuns(runs []store.Run) error {
	if len(runs) == 0 {
		fmt.Fprintln(p.Stderr, "no runs yet")
		return nil
	}
	return progress.Runs(p.Stdout, runs, p.terminal(p.Stdout), p.width(), time.Now())
}

func showCommand(p *Invocation) *cobra.Command {
	var raw bool
	var shown resultFlags
	var out formats.Files
	c := &cobra.Command{
		Use:   "show [RUN]",
		Short: "Show a run's last report",
		Long:  "RUN is an id, a part of one, or latest; without it, on a terminal, you choose. Prints the last review's report, and the report of its fix if the run ended\nwith one; on a terminal they are rendered, and read with GH_PAGER or PAGER. Those of earlier rounds are among the run's artifacts.\nWhy agents are not complete follows on standard error, with what a report leaves out.\nWith --sarif, --checkstyle or --rdjsonl the findings are written instead.",
		RunE: func(c *cobra.Command, a []string) error {
			if err := out.Check(p.Dir, shown.wants()); err != nil {
				return err
			}
			if err := shown.check(); err != nil {
				return err
			}
			s, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			run, err := p.find(c.Context(), s, a[0])
			if err != nil {
				return err
			}
			if err := p.warnOfIncidents(c.Context(), s, run.ID); err != nil {
				return err
			}
			if run.Result == nil && (shown.wants() || shown.web || out.Any()) {
				return noReport(s, run)
			}
			if shown.web {
				return p.browse(*run.Result)
			}
			if out.Any() {
				if err := p.writeFormats(out, *run.Result, sanitize.Policy{}); err != nil || !shown.wants() {
					return err
				}
			}
			if shown.wants() {
				return shown.print(p, *run.Result)
			}
			body, err := s.File(run.ID, "review.md")
			if errors.Is(err, fs.ErrNotExist) {
				return noReport(s, run)
			}
			if err != nil {
				return err
			}
			if run.Result != nil { // a run that ends with its fix ends with two reports
				fix, err := s.File(run.ID, fmt.Sprintf("round-%d/fix.md", run.Result.Round))
				switch {
				case err == nil:
					body = append(append(body, '\n'), fix...)
				case !errors.Is(err, fs.ErrNotExist):
					return err
				}
			}
			if err := p.paged(func(w io.Writer) error { return p.printMarkdown(w, string(body), raw) }); err != nil || run.Result == nil {
				return err
			}
			progress.Untold(p.Stderr, *run.Result)
			return nil
		},
	}
	shown.add(c)
	addFormats(c, &out)
	c.Flags().BoolVar(&raw, "raw", false, "print the Markdown as it is")
	return p.ofRun(c)
}

// warnOfIncidents names what a person has to look at, whatever the run ended with.
func (p *Invocation) warnOfIncidents(ctx context.Context, s *app.Service, run string) error {
	incidents, err := s.Incidents(ctx, run)
	for _, i := range incidents {
		fmt.Fprintf(p.Stderr, "incident: %s at %s: %s\n", i.Kind, i.Seen.Local().Format(time.DateTime), runnerlog.Inert(sanitize.Terminal(i.Detail)))
	}
	return err
}

// noReport says what to do about a run without one.
func noReport(s *app.Service, run store.Run) error {
	if run.State == store.Finished && !s.Kept(run.ID) {
		return advice.Error{
			Err:  fmt.Errorf("run %s has no report any more: files of runs are kept for %d days", run.ID, app.ArtifactsKept/(24*time.Hour)),
			Next: "prloop show --json " + run.ID + " prints its result", Status: advice.Failed,
		}
	}
	next := "prloop resume " + run.ID
	if run.State == store.Running {
		next = "wait for it"
	}
	return advice.Error{Err: fmt.Errorf("run %s has no report: it is %s", run.ID, run.State), Next: next, Status: advice.Failed}
}

func replayCommand(p *Invocation) *cobra.Command {
	return p.ofRun(&cobra.Command{
		Use:   "replay [RUN]",
		Short: "Recompute a run's report from its stored answers and compare it",
		Long:  "Reads the artifacts of a run, judges them again by the fixed rules, and compares the report with the stored one.\nExit status 0 when they are identical, 1 otherwise.",
		RunE: func(c *cobra.Command, a []string) error {
			s, err := p.open(c.Context())
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			return p.replay(c.Context(), s, a[0])
		},
	})
}

func (p *Invocation) replay(ctx context.Context, s *app.Service, part string) error {
	run, err := p.find(ctx, s, part)
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		r, err := s.Replay(run.ID, round)
		switch {
		case errors.Is(err, fs.ErrNotExist) && round == 1:
			return noReport(s, run)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		if err := progress.Replay(p.Stdout, run.ID, r.Round, r.Stored, r.Again); err != nil {
			return err
		}
	}
}
