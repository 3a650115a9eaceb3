package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/eval"
)

func evalCommand(p *Invocation) *cobra.Command {
	return group(&cobra.Command{
		Use:   "eval",
		Short: "Measure prloop's rules on recorded reviews",
		Long: "Measures rules of prloop on recorded reviews of real tools (docs/eval.md). No model is asked. DIR is a folder with an\n" +
			"index.json; a compact one is in prloop's source tree: internal/eval/testdata/bench.",
	}, evalIdentityCommand(p), evalAgreementCommand(p), evalStuckCommand(p))
}

func evalIdentityCommand(p *Invocation) *cobra.Command {
	return measuring(p, &cobra.Command{Use: "identity DIR", Short: "How well the same finding is recognised in other words"}, eval.Identity)
}

func evalAgreementCommand(p *Invocation) *cobra.Command {
	o := eval.AgreementOptions{}
	c := measuring(p, &cobra.Command{Use: "agreement DIR", Short: "What agreement between reviewers is worth"},
		func(ctx context.Context, b eval.Dataset) (eval.AgreementReport, error) {
			return eval.Agreement(ctx, b, o)
		})
	c.PreRunE = func(*cobra.Command, []string) error {
		if o.Size < 2 || o.Size > 5 || o.Support < 1 || o.Support > o.Size || o.Sets < 1 {
			return usage("--size 4 --support 2 --sets 400", "--size is 2 to 5, --support 1 to that, --sets at least 1")
		}
		return nil
	}
	c.Flags().IntVar(&o.Size, "size", 4, "`N` reviewers in a set")
	c.Flags().IntVar(&o.Support, "support", 2, "`N` of them must raise a finding")
	c.Flags().IntVar(&o.Sets, "sets", 400, "draw `N` sets; all are taken where there are no more")
	c.Flags().Uint64Var(&o.Seed, "seed", 0, "`SEED` of the draw")
	return c
}

func evalStuckCommand(p *Invocation) *cobra.Command {
	var o eval.StuckOptions
	c := measuring(p, &cobra.Command{
		Use:   "stuck DIR",
		Short: "How well a finding that returns after a fix is recognised",
		Long: "Plays two rounds with a fix between them on recorded reviews: other tools raise the same problems in their own words,\n" +
			"with other ids, on lines the fix has moved. Prints how many of those that return are recognised.",
	}, func(ctx context.Context, b eval.Dataset) (eval.StuckReport, error) { return eval.Stuck(ctx, b, o) })
	c.PreRunE = func(*cobra.Command, []string) error {
		if o.Turns < 1 {
			return usage("--turns 20", "--turns is at least 1")
		}
		return nil
	}
	c.Flags().IntVar(&o.Turns, "turns", 20, "draw `N` pairs of rounds for each pull request and setting")
	return c
}

// measuring makes c measure the recorded reviews in the folder it is given, and print the figures.
func measuring[R interface{ Write(io.Writer) error }](p *Invocation, c *cobra.Command, measure func(context.Context, eval.Dataset) (R, error)) *cobra.Command {
	var asJSON bool
	c.Args = args(cobra.ExactArgs(1))
	c.RunE = func(c *cobra.Command, a []string) error {
		b, err := p.openDataset(a[0])
		if err != nil {
			return err
		}
		r, err := measure(c.Context(), b)
		if err != nil {
			return fmt.Errorf("measure %s: %w", c.Name(), err)
		}
		if asJSON {
			return json.NewEncoder(p.Stdout).Encode(r)
		}
		return r.Write(p.Stdout)
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return c
}

// openDataset reads a folder of recorded reviews; a relative name is one in the working directory.
func (p *Invocation) openDataset(dir string) (eval.Dataset, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	b, err := eval.Open(dir)
	if errors.Is(err, eval.ErrNoBench) {
		return b, usage("name a folder of recorded reviews, such as internal/eval/testdata/bench", "%w", err)
	}
	return b, err
}
