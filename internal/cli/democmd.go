package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/demo"
	"github.com/prloop/prloop/internal/markdown"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

func demoCommand(p *Proc) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Review a bundled pull request end to end, offline",
		Long: "Opens a bundled pull request on a stand-in for GitHub in this process, reviews it with the static reviewer and a\n" +
			"scripted model, posts the report through the real gh, and shows what was posted. Nothing leaves the machine.",
		Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return p.demo() },
	}
}

func (p *Proc) demo() error {
	state, err := os.MkdirTemp("", "prloop-demo")
	if err != nil {
		return fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	defer os.RemoveAll(state)
	w, err := demo.Start()
	if err != nil {
		return err
	}
	defer w.Close()
	env := w.Env(p.env("PRLOOP_GH"), state)
	for _, name := range []string{"TERM", "COLUMNS", "CI"} {
		if v := p.env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if p.env("NO_COLOR") == "" {
		env = append(env, "NO_COLOR=")
	}
	fmt.Fprint(p.Stdout, markdown.Render(demo.Story, markdown.Options{Width: p.width()}))
	fmt.Fprintf(p.Stdout, "\n$ prloop run %s\n", demo.Target)
	status := Main(Proc{
		Name: "prloop", Args: []string{"run", demo.Target}, Stdin: strings.NewReader(""), Stdout: p.Stdout, Stderr: p.Stderr,
		Env: env, Dir: state,
	})
	posted := w.Posted()
	for _, body := range posted {
		fmt.Fprintf(p.Stdout, "\nPosted on %s through gh:\n\n", demo.Target)
		fmt.Fprint(p.Stdout, markdown.Render(sanitize.Terminal(body), markdown.Options{Width: p.width(), Color: p.color()}))
	}
	for _, f := range w.Faults() {
		return fmt.Errorf("the demonstration's stand-ins were asked something odd: %s", f)
	}
	if want := review.ChangesRequested.ExitStatus(); status != want || len(posted) != 1 {
		return fmt.Errorf("the demonstration ended with status %d and %s; %d and one were expected", status, plural(len(posted), "comment", "comments"), want)
	}
	fmt.Fprintf(p.Stdout, "\nExit status %d: changes requested. In a repository of yours: prloop run NUMBER\n", status)
	return nil
}
