package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/markdown"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// view opens the view of a run: live on a terminal, groups in Actions, plain lines otherwise. News never mixes with what
// a script reads from standard output.
func (p *Invocation) view(o runOptions) *progress.View {
	opts := progress.Options{Out: p.Stderr, Width: p.width(), Color: p.color()}
	switch {
	case o.result.wants() || o.out.Printed():
	case p.inActions():
		opts.Out, opts.Actions = p.Stdout, true
	case p.terminal(p.Stdout):
		opts.Out, opts.IsTerminal = p.Stdout, true
	}
	return progress.New(opts)
}

// show prints a finished run's result: JSON for scripts, the report of a dry run, and the summary. Where no terminal shows it, its last
// lines name the consensus as spec.md A6 writes it, and the outcome.
func (p *Invocation) show(v *progress.View, s *app.Service, ended app.Ended, o runOptions) error {
	result := ended.Result
	v.Clear()
	if err := p.writeFormats(o.out, result, ended.Policy); err != nil || o.out.Printed() {
		return err
	}
	if o.result.wants() {
		return o.result.print(p, result)
	}
	ended.Policy.Repo = result.Target.Repo // a run that had ended before has no policy, and its links are the repository's all the same
	if p.inActions() {
		progress.Annotate(p.Stdout, result, ended.Policy)
		if err := p.stepSummary(s, ended); err != nil {
			return err
		}
	}
	if o.dryRun || result.Command != "" && result.Target.Local() { // nobody else shows what it says
		body, err := s.File(result.Run, "review.md")
		if err != nil {
			return err
		}
		if err := p.printMarkdown(p.Stdout, string(body), false); err != nil {
			return err
		}
		result.Findings, result.Groups = nil, nil // the report has each
	} else {
		for _, a := range result.Answers {
			if err := p.printMarkdown(p.Stdout, a.Text, false); err != nil {
				return err
			}
		}
	}
	width := p.width()
	if !p.terminal(p.Stdout) { // for programs, and for those who search
		width = 0
	}
	progress.Summary(p.Stdout, result, width, p.color())
	if result.Outcome == review.StaticOnly && result.Target.Local() && len(o.reviewers) == 0 && p.env("OPENAI_API_KEY") == "" {
		next := "to have a model review it: set OPENAI_API_KEY, and check it with prloop doctor"
		if width > 0 {
			next = progress.Wrap(next, width-1, 13)
		}
		fmt.Fprintf(p.Stdout, "  next       %s\n", next)
	}
	if !p.terminal(p.Stdout) {
		word := "none"
		if result.Consensus != nil {
			word = *result.Consensus
		}
		fmt.Fprintln(p.Stdout)
		if result.Target.Job == "" {
			fmt.Fprintf(p.Stdout, "consensus: %s\n", word)
		}
		fmt.Fprintf(p.Stdout, "outcome: %s\n", result.Outcome)
	}
	return nil
}

// stepSummary appends the report to the step summary of GitHub Actions.
func (p *Invocation) stepSummary(s *app.Service, ended app.Ended) error {
	path, result := p.env("GITHUB_STEP_SUMMARY"), ended.Result
	if path == "" {
		return nil
	}
	body, err := s.File(result.Run, "review.md")
	if err != nil || result.Outcome == review.Failed { // there is no report yet, or one that never came to be posted
		body = []byte(result.Reason + "\n")
	}
	return progress.StepSummary(path, string(body), ended.Policy)
}

// printMarkdown prints a report: rendered on a terminal, as it is otherwise.
func (p *Invocation) printMarkdown(w io.Writer, body string, raw bool) error {
	if !raw && p.terminal(p.Stdout) {
		body = markdown.Render(sanitize.Terminal(body), markdown.Options{Width: p.width(), Color: p.color()})
	}
	if !p.terminal(p.Stdout) { // a report quotes code, and runners read orders in the log
		body = runnerlog.Inert(body)
	}
	_, err := io.WriteString(w, body)
	return err
}

// paged has what is written read with the person's pager, by gh's rules: GH_PAGER, else PAGER, and none where that is empty or cat, or
// where standard output is no terminal.
func (p *Invocation) paged(write func(io.Writer) error) error {
	out, _ := p.Stdout.(*os.File)
	line := p.env("PAGER")
	if slices.ContainsFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, "GH_PAGER=") }) {
		line = p.env("GH_PAGER")
	}
	if line == "" || line == "cat" || !p.terminal(p.Stdout) {
		return write(p.Stdout)
	}
	pager, err := proc.StartPager(line, p.Env, out, os.Stderr)
	if err != nil {
		p.note(err.Error())
		return write(p.Stdout)
	}
	return errors.Join(write(pager), pager.Close())
}
