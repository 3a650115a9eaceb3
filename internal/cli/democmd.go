package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/demo"
	"github.com/prloop/prloop/internal/markdown"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/sanitize"
)

func demoCommand(p *Proc) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Review and fix two bundled pull requests end to end, offline",
		Long: "Opens two bundled pull requests on a stand-in for GitHub in this process, reviews them with the static reviewer and a\n" +
			"scripted model, has the builtin fixer mend them, pushes through the real git, posts through the real gh, and shows\n" +
			"what was posted: the first one is approved in its second round, the second one gets stuck. Nothing leaves the machine.",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context(), keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "keep the runs' folders in `FOLDER`, for PRLOOP_STATE=FOLDER prloop show, replay and so on")
	return cmd
}

func (p *Proc) demo(ctx context.Context, keep string) error {
	state, err := p.demoState(keep)
	if err != nil {
		return err
	}
	if keep == "" {
		defer os.RemoveAll(state)
	}
	w, err := demo.Start()
	if err != nil {
		return err
	}
	defer w.Close()
	more, err := p.demoEnv(ctx)
	if err != nil {
		return err
	}
	for _, c := range w.Chapters {
		if err := p.chapter(c, slices.Concat(w.Env(c, p.env("PRLOOP_GH"), state), more), state); err != nil {
			return err
		}
		for _, f := range w.Faults() {
			return fmt.Errorf("unexpected request to the demo's fake GitHub or model: %s", f)
		}
	}
	end := "In a repository of yours: `prloop run NUMBER`."
	if keep != "" {
		end += fmt.Sprintf(" All reports, requests, answers and logs are in `%s`.", filepath.Join(state, "runs"))
	} else {
		end += " The folders of these runs are gone; `prloop demo --keep FOLDER` keeps them."
	}
	p.tell("\n" + end)
	return nil
}

// demoState is the folder the runs of a demonstration are kept in.
func (p *Proc) demoState(keep string) (string, error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "prloop-demo")
		if err != nil {
			return "", fmt.Errorf("make a folder for the demonstration: %w", err)
		}
		return dir, nil
	}
	if !filepath.IsAbs(keep) {
		keep = filepath.Join(p.Dir, keep)
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	return keep, nil
}

// demoEnv is what a demonstration takes over from the person's environment, and its word on confinement.
func (p *Proc) demoEnv(ctx context.Context) ([]string, error) {
	var env []string
	for _, name := range []string{"TERM", "COLUMNS", "CI", envSandboxWithout} {
		if v := p.env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if p.env("NO_COLOR") == "" {
		env = append(env, "NO_COLOR=")
	}
	machine, err := p.sandbox()
	if err != nil {
		return nil, err
	}
	if got := machine.Probe(ctx); got.Tier > sandbox.Tier1b {
		// Its agents are prloop's own and its models follow a script, so it may show a fix where others would not get one.
		env = append(env, envSandbox+"=off")
		p.tell(fmt.Sprintf("This machine gives less than full containment, where prloop would let nobody fix: %s. The agents of this demonstration "+
			"follow a script, so they run without a sandbox.", got))
		fmt.Fprintln(p.Stdout)
	}
	return env, nil
}

// chapter tells of a pull request, runs prloop on it, and shows what it posted.
func (p *Proc) chapter(c *demo.Chapter, env []string, dir string) error {
	p.tell(c.Story)
	fmt.Fprintf(p.Stdout, "\n$ prloop run %s\n", c.Target)
	status := Main(Proc{
		Name: "prloop", Args: []string{"run", c.Target}, Stdin: strings.NewReader(""), Stdout: p.Stdout, Stderr: p.Stderr, Env: env, Dir: dir,
	})
	if status == exitInterrupted {
		return hinted{err: errors.New("the demonstration was interrupted"), next: "start it again: its runs are kept with --keep FOLDER only", status: exitInterrupted}
	}
	posted := c.Posted()
	if status == exitFailed && len(posted) == 0 {
		return exitStatus(exitFailed) // the run has said why, and what to try
	}
	for i, post := range posted {
		fmt.Fprintf(p.Stdout, "\n%s\n\n", p.rule(fmt.Sprintf("%d of %d posted on %s: %s", i+1, len(posted), c.Target, post.Title)))
		p.tell(sanitize.Terminal(post.Body))
	}
	if want := c.Outcome.ExitStatus(); status != want || len(posted) != c.Expected() {
		return fmt.Errorf("the demonstration's run of %s ended with status %d and %s; %d and %d were expected",
			c.Target, status, plural(len(posted), "comment", "comments"), want, c.Expected())
	}
	fmt.Fprintf(p.Stdout, "\n%s\n\n", p.rule(fmt.Sprintf("Exit status %d: %s", status, c.End)))
	return nil
}

// tell shows Markdown as a terminal does, whatever standard output is.
func (p *Proc) tell(text string) {
	fmt.Fprint(p.Stdout, markdown.Render(text, markdown.Options{Width: p.width(), Color: p.color()}))
}

// rule is a line across the terminal with words in it.
func (p *Proc) rule(words string) string {
	line := "── " + words + " "
	return line + strings.Repeat("─", max(0, min(p.width(), 100)-len([]rune(line))))
}
