package demo

import (
	"fmt"
	"io"
	"strings"

	"github.com/prloop/prloop/internal/markdown"
	"github.com/prloop/prloop/sanitize"
)

// Stage is where the demonstration is shown.
type Stage struct {
	Out   io.Writer
	Width int
	Color bool
	// Run runs prloop with these arguments in this environment and gives its exit status.
	Run func(env []string, args ...string) int
}

// EarlyError: prloop ended before there was anything to show, and has said why.
type EarlyError struct{ Status int }

func (e *EarlyError) Error() string { return fmt.Sprintf("prloop ended with status %d", e.Status) }

// The statuses of prloop that end the demonstration: it failed, it was interrupted.
const (
	failed      = 1
	interrupted = 130
)

// Play tells of a pull request, runs prloop on it, and shows what it posted. Errors: *EarlyError.
func (w *World) Play(c *Chapter, s Stage, env []string) error {
	s.Tell(c.Story)
	fmt.Fprintf(s.Out, "\n$ prloop run %s\n", c.Target)
	status := s.Run(env, "run", c.Target)
	posted := c.Posted()
	if status == interrupted || status == failed && len(posted) == 0 {
		return &EarlyError{status}
	}
	for i, post := range posted {
		fmt.Fprintf(s.Out, "\n%s\n\n", s.rule(fmt.Sprintf("%d of %d posted on %s: %s", i+1, len(posted), c.Target, post.Title)))
		s.Tell(sanitize.Terminal(post.Body))
	}
	if want := c.Outcome.ExitStatus(); status != want || len(posted) != c.Expected() {
		return fmt.Errorf("the demonstration's run of %s ended with status %d and %d comments; %d and %d were expected", c.Target, status, len(posted), want, c.Expected())
	}
	fmt.Fprintf(s.Out, "\n%s\n\n", s.rule(fmt.Sprintf("Exit status %d: %s", status, c.End)))
	for _, f := range w.Faults() {
		return fmt.Errorf("unexpected request to the demonstration's fake GitHub or model: %s", f)
	}
	return nil
}

// Tell shows Markdown as a terminal does, whatever Out is.
func (s Stage) Tell(text string) {
	fmt.Fprint(s.Out, markdown.Render(text, markdown.Options{Width: s.Width, Color: s.Color}))
}

// rule is a line across the terminal with words in it.
func (s Stage) rule(words string) string {
	line := "── " + words + " "
	return line + strings.Repeat("─", max(0, min(s.Width, 100)-len([]rune(line))))
}
