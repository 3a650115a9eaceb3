// Package cli wires the parts together: flags become options, options become parts, errors become one sentence, a next
// step and an exit status. Only this package sees configuration and environment.
package cli

import (
	"context"
	_ "embed" // the help on environment variables
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // --quiet-hours names time zones, which small containers do not have

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/operator"
	"github.com/prloop/prloop/internal/pipes"
	"github.com/prloop/prloop/internal/progress"
	"github.com/prloop/prloop/internal/subcommand"
)

// Version is set by the linker for releases.
var Version = "dev"

// Invocation is the process the program runs in, written out so that tests can run it in theirs.
type Invocation struct {
	// Name is what a person types: prloop, or "gh review-loop" for the extension.
	Name   string
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Env is the environment as KEY=value entries.
	Env []string
	// Dir is the working directory.
	Dir string

	// database is the flag of that name.
	database string
	// words are the operator's on this machine, once they were asked for.
	words *operator.Words
}

// Process is the current process under a name.
func Process(name string) Invocation {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return Invocation{Name: name, Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(), Dir: dir}
}

// env looks a variable up; the last entry wins, as in a shell.
func (p Invocation) env(key string) string {
	for _, e := range slices.Backward(p.Env) {
		if v, ok := strings.CutPrefix(e, key+"="); ok {
			return v
		}
	}
	return ""
}

// operator reads the operator's words on this machine.
func (p *Invocation) operator() *operator.Words {
	if p.words == nil {
		p.words = &operator.Words{Get: p.env}
	}
	return p.words
}

// draining is where a kill has to be survived (threats.md K29).
var draining = failpoint.New("drain: begun")

// Main runs one command and returns the process's exit status.
func Main(p Invocation) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal drains: what is being written is finished, agents are ended, the run can be resumed (threats.md T100).
	// A second one is not waited for.
	context.AfterFunc(ctx, func() {
		stop()
		_ = draining.Hit()
	})
	if err := p.operator().ArmFailpoint(p.Stderr); err != nil {
		return p.fail(err)
	}
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	p.Stdout, p.Stderr = pipes.Watch(p.Stdout, p.Stderr, func() { abandon(pipes.ErrReaderGone) })
	root := newRoot(&p)
	args := p.Args
	if p.Name != "prloop" {
		args = asRun(root, args)
	}
	root.SetArgs(progress.JoinFields(args))
	err := root.ExecuteContext(ctx)
	var status exitStatus
	if err == nil || errors.As(err, &status) {
		return int(status)
	}
	if errors.Is(context.Cause(ctx), pipes.ErrReaderGone) && !errors.As(err, new(advice.Error)) {
		return advice.Interrupted // there is nobody to tell that it could not be printed
	}
	if ctx.Err() != nil && !errors.As(err, new(advice.Error)) {
		err = advice.Error{Err: errors.New("interrupted"), Status: advice.Interrupted}
	}
	return p.fail(err)
}

// exitStatus ends a command with a status and no message.
type exitStatus = subcommand.Status

// asRun makes `gh review-loop 123` mean `prloop run 123`, and leaves every other command as it is.
func asRun(root *cobra.Command, args []string) []string {
	if len(args) == 0 {
		return []string{"run"}
	}
	if args[0] == "help" || args[0] == "--help" || args[0] == "-h" || args[0] == "--version" || strings.HasPrefix(args[0], "__complete") {
		return args
	}
	for _, c := range root.Commands() {
		if c.Name() == args[0] || c.HasAlias(args[0]) {
			return args
		}
	}
	return append([]string{"run"}, args...)
}

func newRoot(p *Invocation) *cobra.Command {
	root := &cobra.Command{
		Use:   "prloop",
		Short: "Review a pull request until it is approved, or say why a person is needed",
		Long: "prloop runs one to five reviewers on a pull request, turns their findings into a verdict by fixed rules, and posts\n" +
			"the report through gh. Exit statuses: 0 approved, 1 failed, 2 usage or configuration, 3 changes requested,\n" +
			"4 a person is needed, 5 budget, 6 partial or not reviewed, 7 superseded, 8 no model took part, 130 interrupted.",
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.Args = unknownCommand
	root.PersistentFlags().StringVar(&p.database, "database", "", "database that several machines share: postgres://USER@HOST/DATABASE (PRLOOP_DATABASE)")
	twoBlanks := strings.ReplaceAll(root.UsageTemplate(), "{{rpad .Name .NamePadding }} ", "{{rpad .Name .NamePadding }}  ") // as hang reads a list
	root.SetUsageTemplate(twoBlanks + jsonFieldsHelp)
	root.SetHelpFunc(p.help)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(flagError)
	addGroup(root, reviews, runCommand(p), commandCommand(p), actionCommand(p), scheduleCommand(p), resumeCommand(p), runsCommand(p), showCommand(p), dismissCommand(p), baselineCommand(p), statsCommand(p))
	addGroup(root, setUp, modelsCommand(p), configCommand(p))
	addGroup(root, building, replayCommand(p))
	p.offer(root)
	root.AddCommand(&cobra.Command{Use: "environment", Short: "Environment variables", Long: environment})
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = knownTopic
	}
	return root
}

//go:embed environment.txt
var environment string

// The headings of the root's help.
const (
	reviews  = "Reviews"
	setUp    = "Set-up"
	building = "Measuring and building"
	serving  = "Serving"
)

// addGroup adds commands under a heading of the root's help.
func addGroup(root *cobra.Command, title string, members ...*cobra.Command) {
	if !root.ContainsGroup(title) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	}
	for _, c := range members {
		c.GroupID = title
		root.AddCommand(c)
	}
}
