package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/stats"
	"github.com/prloop/prloop/internal/store"
)

func statsCommand(p *Invocation) *cobra.Command {
	var repo, since string
	var list listFlags
	var fit stats.Fitting
	calibrated, refresh := false, false
	c := &cobra.Command{
		Use:   "stats",
		Short: "Summarize finished runs",
		Long: "Summarizes the runs that have ended: outcomes, rounds, findings and what became of them, agents and their cost (docs/stats.md).\n" +
			"For merged pull requests, it shows what became of the findings that were posted; --refresh asks GitHub first which were merged.\n" +
			"With --calibration it prints how often what models call likely holds, and --out writes the table that the setting calibration names.",
		Example: "  prloop stats --since 30d -R o/r\n  prloop stats --json by,name,fixed,rejected --jq '.[] | select(.by == \"model\")'\n  prloop stats --calibration --out calibration.json",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := list.check(stats.Fields()); err != nil {
				return err
			}
			if err := fit.Check(calibrated, len(list.fields) > 0); err != nil {
				return err
			}
			from, ok := stats.Since(since, time.Now())
			if !ok {
				return advice.Misuse("--since 30d, --since 12h or --since 2026-11-01", "%q is no time", since)
			}
			f := store.Filter{Since: from}
			if repo != "" {
				r, err := github.ParseRepo(repo, github.DefaultHost(p.Env))
				if err != nil {
					return err
				}
				f.Repo = r.String()
			}
			open := p.open
			if refresh { // threads are read with the operator's key
				open = p.openToRun
			}
			s, err := open(c.Context())
			if err != nil {
				return err
			}
			defer s.Close(c.Context())
			var digest stats.Digest
			if refresh {
				if err := p.refreshMerges(c.Context(), s, f); err != nil {
					return err
				}
			}
			if err := errors.Join(s.EachRun(c.Context(), f, digest.Add), s.EachMerge(c.Context(), f, digest.AddMerge)); err != nil {
				return err
			}
			switch {
			case calibrated:
				return fit.Run(p.Stdout, p.Dir, digest.Observations())
			case len(list.fields) == 0:
				return digest.Write(p.Stdout, p.Stderr, p.terminal(p.Stdout), p.width())
			}
			rows := []map[string]any{}
			for _, r := range digest.Rows() {
				rows = append(rows, r.Map())
			}
			return list.print(p.Stdout, rows, p.width(), p.color())
		},
	}
	f := c.Flags()
	f.StringVarP(&repo, "repo", "R", "", "only runs of `[HOST/]OWNER/REPO`")
	f.StringVar(&since, "since", "", "only runs that began at `TIME` or later: a date, or 12h, 30d, 4w ago")
	f.BoolVar(&calibrated, "calibration", false, "print how reliable the probabilities of models are")
	f.BoolVar(&refresh, "refresh", false, "ask GitHub which pull requests were merged, and record what became of their findings")
	f.StringVar(&fit.Out, "out", "", "write the table of calibration to `FILE`")
	f.StringSliceVar(&fit.Results, "results", nil, "take in result sets of evaluations, `DIRS`")
	f.StringVar(&fit.Cases, "cases", "", "`DIR` of their review cases")
	f.StringVar(&fit.By, "by", "content", "`MEASURE` by which their findings are right: place, content, words or judge:NAME")
	list.add(c, stats.Fields())
	return c
}

// refreshMerges looks for merges, and says on standard error what could not be looked at.
func (p *Invocation) refreshMerges(ctx context.Context, s *app.Service, f store.Filter) error {
	o, err := p.order(runOptions{})
	if err != nil {
		return err
	}
	o.Note = nil
	done, err := s.RefreshMerges(ctx, o, f)
	for _, e := range done.Failed {
		p.note(e.Error())
	}
	if done.Left {
		p.note(fmt.Sprintf("only the %d pull requests with the newest runs were looked at; -R and --since choose others", done.Asked+len(done.Failed)))
	}
	return err
}
