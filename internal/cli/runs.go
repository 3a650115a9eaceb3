package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/cli/go-gh/v2/pkg/tableprinter"
	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// listed is one row of `prloop runs --json`.
type listed struct {
	Run     string         `json:"run"`
	Target  string         `json:"target"`
	PR      int            `json:"pr"`
	Head    string         `json:"head"`
	State   store.RunState `json:"state"`
	Outcome review.Outcome `json:"outcome"`
	Created time.Time      `json:"created"`
	Updated time.Time      `json:"updated"`
}

func runsCommand(p *Proc) *cobra.Command {
	var repo, expr string
	var pr, limit int
	var asJSON bool
	c := &cobra.Command{
		Use:   "runs",
		Short: "List what ran",
		Args:  args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			f := store.Filter{PR: pr, Limit: limit}
			if repo != "" {
				r, err := github.ParseRepo(repo, github.DefaultHost(p.Env))
				if err != nil {
					return err
				}
				f.Repo = r.String()
			}
			s, err := p.openSession(c.Context())
			if err != nil {
				return err
			}
			defer s.close()
			runs, err := s.store.ListRuns(c.Context(), f)
			if err != nil {
				return err
			}
			return p.printRuns(runs, asJSON, expr)
		},
	}
	c.Flags().StringVarP(&repo, "repo", "R", "", "only runs of `[HOST/]OWNER/REPO`")
	c.Flags().IntVar(&pr, "pr", 0, "only runs of pull request `N`")
	c.Flags().IntVarP(&limit, "limit", "L", 30, "at most `N` runs")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVarP(&expr, "jq", "q", "", "filter the JSON with a jq `EXPRESSION`")
	return c
}

func (p *Proc) printRuns(runs []store.Run, asJSON bool, expr string) error {
	rows := []listed{}
	for _, r := range runs {
		rows = append(rows, listed{r.ID, r.Target.String(), r.Target.PR, r.Head, r.State, r.Outcome, r.Created, r.Updated})
	}
	if asJSON || expr != "" {
		data, err := json.Marshal(rows)
		if err != nil {
			return fmt.Errorf("encode the list of runs: %w", err)
		}
		if expr == "" {
			_, err = fmt.Fprintln(p.Stdout, string(data))
			return err
		}
		if err := jq.Evaluate(strings.NewReader(string(data)), p.Stdout, expr); err != nil {
			return usage("see the jq manual", "jq expression: %w", err)
		}
		return nil
	}
	tty := p.terminal(p.Stdout)
	if len(rows) == 0 {
		fmt.Fprintln(p.Stderr, "no runs yet")
		return nil
	}
	t := tableprinter.New(p.Stdout, tty, max(p.width(), 100))
	t.AddHeader([]string{"RUN", "TARGET", "STATE", "OUTCOME", "STARTED"})
	for _, r := range rows {
		t.AddField(r.Run)
		t.AddField(sanitize.Terminal(r.Target))
		t.AddField(string(r.State))
		t.AddField(string(r.Outcome))
		t.AddField(r.Created.Format(time.RFC3339))
		t.EndRow()
	}
	return t.Render()
}

func showCommand(p *Proc) *cobra.Command {
	var asJSON, raw bool
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run's report",
		Long:  "RUN may be shortened. Prints the report; on a terminal it is rendered.",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			s, err := p.openSession(c.Context())
			if err != nil {
				return err
			}
			defer s.close()
			run, err := s.findRun(c.Context(), a[0])
			if err != nil {
				return err
			}
			if asJSON {
				if run.Result == nil {
					return unfinished(run)
				}
				return p.printJSON(run.Result)
			}
			body, err := s.folder.Load(run.ID, "review.md")
			if errors.Is(err, fs.ErrNotExist) {
				return unfinished(run)
			}
			if err != nil {
				return err
			}
			return p.printMarkdown(string(body), raw)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the run's result as JSON")
	c.Flags().BoolVar(&raw, "raw", false, "print the Markdown as it is")
	return c
}

// unfinished says what to do about a run without a result.
func unfinished(run store.Run) error {
	return hinted{err: fmt.Errorf("run %s has no report: it is %s", run.ID, run.State), next: "prloop resume " + run.ID, status: exitFailed}
}

func replayCommand(p *Proc) *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "Judge a run's stored answers again and compare the report byte for byte",
		Long:  "Reads the artifacts of a run, judges them again by the fixed rules, and compares the report with the stored one.\nExit status 0 when they are the same bytes, 1 otherwise.",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			s, err := p.openSession(c.Context())
			if err != nil {
				return err
			}
			defer s.close()
			return s.replay(c.Context(), a[0])
		},
	}
}

func (s *session) replay(ctx context.Context, part string) error {
	run, err := s.findRun(ctx, part)
	if err != nil {
		return err
	}
	stored, err := s.folder.Load(run.ID, "review.md")
	if errors.Is(err, fs.ErrNotExist) {
		return unfinished(run)
	}
	if err != nil {
		return err
	}
	data, err := s.folder.Load(run.ID, "round-1/inputs.json")
	if err != nil {
		return err
	}
	var in orchestrator.Inputs
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read the inputs of run %s: %w", run.ID, err)
	}
	again := orchestrator.Judge(in)
	if again.Report != string(stored) {
		return hinted{
			err:  fmt.Errorf("replay of run %s gives another report (%s, stored %s)", run.ID, plural(len(again.Report), "byte", "bytes"), plural(len(stored), "byte", "bytes")),
			next: "the artifacts were changed, or the run was made by another version of prloop", status: exitFailed,
		}
	}
	fmt.Fprintf(s.p.Stdout, "replay of run %s: the same %d bytes\n", run.ID, len(stored))
	if word := again.Result.Consensus; word != nil {
		fmt.Fprintf(s.p.Stdout, "consensus: %s\n", *word)
	}
	fmt.Fprintf(s.p.Stdout, "outcome: %s (%s)\n", again.Result.Outcome, sanitize.Terminal(again.Result.Reason))
	return nil
}

func (p *Proc) printJSON(v any) error {
	enc := json.NewEncoder(p.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
