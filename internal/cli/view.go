package cli

import (
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/markdown"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// view shows a run while it goes on.
type view struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *Proc) view(o runOptions, run string) *view {
	v := &view{out: p.Stderr}
	fmt.Fprintln(v.out, "run", run)
	return v
}

// Event shows one piece of news.
func (v *view) Event(e review.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Kind == review.EventUsage {
		return
	}
	fmt.Fprintf(v.out, "%s %s %s\n", e.Agent, e.State, sanitize.Terminal(e.Message))
}

// Close ends the view.
func (v *view) Close() {}

// show prints a finished run's result.
func (p *Proc) show(v *view, s *session, result review.RunResult, o runOptions) error {
	v.Close()
	if o.asJSON {
		return p.printJSON(result)
	}
	if o.dryRun {
		body, err := s.folder.Load(result.Run, "review.md")
		if err != nil {
			return err
		}
		if err := p.printMarkdown(string(body), false); err != nil {
			return err
		}
	}
	word := "none"
	if result.Consensus != nil {
		word = *result.Consensus
	}
	fmt.Fprintf(p.Stdout, "consensus: %s\noutcome: %s (%s)\n", word, result.Outcome, result.Reason)
	for _, u := range result.Comments {
		fmt.Fprintln(p.Stdout, u)
	}
	return nil
}

// printMarkdown prints a report: rendered on a terminal, as it is otherwise.
func (p *Proc) printMarkdown(body string, raw bool) error {
	if raw || !p.terminal(p.Stdout) {
		_, err := io.WriteString(p.Stdout, body)
		return err
	}
	_, err := io.WriteString(p.Stdout, markdown.Render(sanitize.Terminal(body), markdown.Options{Width: p.width(), Color: p.color()}))
	return err
}

// commands are all of prloop's.
func commands(p *Proc) []*cobra.Command {
	return []*cobra.Command{
		runCommand(p), resumeCommand(p), runsCommand(p), showCommand(p), replayCommand(p),
		agentCommand(p), configCommand(p), schemaCommand(p), doctorCommand(p), versionCommand(p),
		consensusCommand(p), sanitizeCommand(p),
	}
}
