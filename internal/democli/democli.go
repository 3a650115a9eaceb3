// Package democli is `prloop demo`.
package democli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/demo"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/subcommand"
)

// Main is the program as the demonstration runs it: with arguments, an environment and a working directory. It returns the exit status.
type Main func(p subcommand.Process, env []string, dir string, args ...string) int

// Command is the command.
func Command(main Main) subcommand.Command {
	f := subcommand.Flags("demo")
	keep := f.String("keep", "", "keep the runs' folders in `FOLDER`, for PRLOOP_STATE=FOLDER prloop show, replay and so on")
	return subcommand.Command{
		Use:   "demo",
		Short: "Review and fix two bundled pull requests end to end, offline",
		Long: "Opens two bundled pull requests on a stand-in for GitHub in this process, reviews them with the static reviewer and a\n" +
			"scripted model, has the builtin fixer fix them, pushes through the real git, posts through the real gh, and shows\n" +
			"what was posted: the first one is approved in its second round, the second one gets stuck. Nothing leaves the machine.\n" +
			"It needs the program gh, but no login; in a checkout of prloop, make demo builds it.",
		Flags: f,
		Run:   func(ctx context.Context, p subcommand.Process, _ []string) error { return play(ctx, p, main, *keep) },
	}
}

func play(ctx context.Context, p subcommand.Process, main Main, keep string) error {
	if _, err := proc.LookPath(cmp.Or(p.Getenv("PRLOOP_GH"), "gh")); err != nil {
		return advice.Error{
			Err:  fmt.Errorf("the demonstration posts through gh, the GitHub CLI, and needs no login: %w", err),
			Next: "install gh from https://cli.github.com, or name it: PRLOOP_GH=/path/to/gh; in a checkout of prloop, make demo builds it", Status: advice.Failed,
		}
	}
	state, err := folder(p, keep)
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
	stage := demo.Stage{Out: p.Stdout, Width: p.Width, Color: p.Color}
	more, err := environment(ctx, p, stage)
	if err != nil {
		return err
	}
	stage.Run = func(env []string, args ...string) int {
		return main(p, slices.Concat(env, more), state, args...)
	}
	for _, c := range w.Chapters {
		err := w.Play(c, stage, w.Env(c, p.Getenv("PRLOOP_GH"), state))
		var early *demo.EarlyError
		switch {
		case errors.As(err, &early) && early.Status == advice.Interrupted:
			return advice.Error{Err: errors.New("the demonstration was interrupted"), Next: "start it again: its runs are kept with --keep FOLDER only", Status: advice.Interrupted}
		case errors.As(err, &early):
			return subcommand.Status(early.Status) // the run has said why, and what to try
		case err != nil:
			return err
		}
	}
	end := "In a repository of yours: `prloop run NUMBER`."
	if keep != "" {
		end += fmt.Sprintf(" All reports, requests, answers and logs are in `%s`.", filepath.Join(state, "runs"))
	} else {
		end += " The folders of these runs are gone; `prloop demo --keep FOLDER` keeps them."
	}
	stage.Tell("\n" + end)
	return nil
}

// folder is the folder the runs of a demonstration are kept in.
func folder(p subcommand.Process, keep string) (string, error) {
	if keep == "" {
		dir, err := os.MkdirTemp("", "prloop-demo")
		if err != nil {
			return "", fmt.Errorf("make a folder for the demonstration: %w", err)
		}
		return dir, nil
	}
	keep = p.Path(keep)
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	return keep, nil
}

// environment is what a demonstration takes over from the person's environment, and its word on confinement.
func environment(ctx context.Context, p subcommand.Process, stage demo.Stage) ([]string, error) {
	var env []string
	for _, name := range []string{"TERM", "COLUMNS", "CI", operator.EnvSandboxWithout} {
		if v := p.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if p.Getenv("NO_COLOR") == "" {
		env = append(env, "NO_COLOR=")
	}
	machine, err := (&operator.Words{Get: p.Getenv}).Sandbox()
	if err != nil {
		return nil, err
	}
	if got := machine.Probe(ctx); got.Tier > sandbox.Tier1b {
		// Its agents are prloop's own and its models follow a script, so it may show a fix where others would not get one.
		env = append(env, operator.EnvSandbox+"=off")
		stage.Tell(fmt.Sprintf("This machine gives less than full containment, where prloop would let nobody fix: %s. The agents of this demonstration "+
			"follow a script, so they run without a sandbox.", got))
		fmt.Fprintln(p.Stdout)
	}
	return env, nil
}
