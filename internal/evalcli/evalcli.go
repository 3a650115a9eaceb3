// Package evalcli has the commands below `prloop eval`: flags and arguments become calls of internal/eval, figures become
// text or JSON.
package evalcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/prloop/prloop/internal/advice"
	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/internal/eval/judging"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/subcommand"
)

// Open opens what reviews cases, in a folder of the state.
type Open func(ctx context.Context, folder string) (Reviewer, error)

// Reviewer reviews cases until it is closed.
type Reviewer interface {
	running.Reviewer
	// Judge gives a judge of expected findings with an agent's model. Its conversation goes into the cassette, which end writes.
	Judge(ctx context.Context, a running.Agent, c gateway.Cassette) (j judging.Judge, end func() error, err error)
	Close(ctx context.Context) error
}

// print writes figures as text or as JSON.
func print(p subcommand.Process, asJSON bool, r interface{ Write(io.Writer) error }) error {
	if asJSON {
		e := json.NewEncoder(p.Stdout)
		e.SetIndent("", " ")
		return e.Encode(r)
	}
	return r.Write(p.Stdout)
}

// Commands is `prloop eval`.
func Commands(open Open) subcommand.Command {
	return subcommand.Command{
		Use:   "eval",
		Short: "Measure the quality of reviews on review cases",
		Long: "Reviews cases, scores the results, compares two sets of results, and measures prloop's rules on recorded reviews of\n" +
			"real tools (docs/eval.md). Only eval run and eval score --judge ask models.",
		Members: members(open),
	}
}

func members(open Open) []subcommand.Command {
	return []subcommand.Command{runCommand(open), scoreCommand(open), compareCommand(), reportCommand(), importCommand(), dummiesCommand(), publishedCommand(), identityCommand(), agreementCommand(), stuckCommand(), redactionCommand()}
}

func newFlags(name string) (f *pflag.FlagSet, asJSON *bool) {
	f = subcommand.Flags(name)
	return f, f.Bool("json", false, "print the figures as JSON")
}

// figures are what a measurement gives.
type figures interface{ Write(io.Writer) error }

// measure reads a folder of recorded reviews, measures them and prints the figures.
func measure[R figures](asJSON *bool, do func(context.Context, eval.Dataset) (R, error)) func(context.Context, subcommand.Process, []string) error {
	return func(ctx context.Context, p subcommand.Process, args []string) error {
		b, err := eval.Open(p.Path(args[0]))
		if errors.Is(err, eval.ErrNoBench) {
			return advice.Misuse("name a folder of recorded reviews, such as internal/eval/testdata/bench", "%w", err)
		}
		if err != nil {
			return err
		}
		r, err := do(ctx, b)
		if err != nil {
			return fmt.Errorf("measure %s: %w", filepath.Base(args[0]), err)
		}
		return print(p, *asJSON, r)
	}
}

func identityCommand() subcommand.Command {
	f, asJSON := newFlags("identity")
	return subcommand.Command{Use: "identity DIR", Short: "Measure how well a reworded finding is recognized", Flags: f, Run: measure(asJSON, eval.Identity)}
}

func agreementCommand() subcommand.Command {
	var o eval.AgreementOptions
	f, asJSON := newFlags("agreement")
	f.IntVar(&o.Size, "size", 4, "`N` reviewers in a set")
	f.IntVar(&o.Support, "support", 2, "`N` of them must raise a finding")
	f.IntVar(&o.Sets, "sets", 400, "draw `N` sets; all are taken where there are no more")
	f.Uint64Var(&o.Seed, "seed", 0, "`SEED` of the draw")
	run := measure(asJSON, func(ctx context.Context, b eval.Dataset) (eval.AgreementReport, error) {
		return eval.Agreement(ctx, b, o)
	})
	return subcommand.Command{Use: "agreement DIR", Short: "Measure what agreement between reviewers is worth", Flags: f, Run: func(ctx context.Context, p subcommand.Process, args []string) error {
		if o.Size < 2 || o.Size > 5 || o.Support < 1 || o.Support > o.Size || o.Sets < 1 {
			return advice.Misuse("--size 4 --support 2 --sets 400", "--size is 2 to 5, --support 1 to that, --sets at least 1")
		}
		return run(ctx, p, args)
	}}
}

func stuckCommand() subcommand.Command {
	var o eval.StuckOptions
	f, asJSON := newFlags("stuck")
	f.IntVar(&o.Turns, "turns", 20, "draw `N` pairs of rounds for each pull request and setting")
	run := measure(asJSON, func(ctx context.Context, b eval.Dataset) (eval.StuckReport, error) { return eval.Stuck(ctx, b, o) })
	return subcommand.Command{
		Use:   "stuck DIR",
		Short: "Measure how well a finding that returns after a fix is recognized",
		Long: "Plays two rounds with a fix between them on recorded reviews: other tools raise the same problems in their own words,\n" +
			"with other ids, on lines the fix has moved. Prints how many of those that return are recognised.",
		Flags: f,
		Run: func(ctx context.Context, p subcommand.Process, args []string) error {
			if o.Turns < 1 {
				return advice.Misuse("--turns 20", "--turns is at least 1")
			}
			return run(ctx, p, args)
		},
	}
}
