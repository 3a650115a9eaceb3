package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/prloop/prloop/internal/eval"
	"github.com/prloop/prloop/sanitize"
)

func evalCommand(p *Proc) *cobra.Command {
	return group(&cobra.Command{
		Use:   "eval",
		Short: "Measure prloop's rules on recorded reviews",
		Long: "Measures rules of prloop on recorded reviews of real tools (docs/eval.md). No model is asked. DIR is a folder with an\n" +
			"index.json; a compact one is in prloop's source tree: internal/eval/testdata/bench.",
	}, evalIdentityCommand(p), evalAgreementCommand(p), evalStuckCommand(p))
}

func evalIdentityCommand(p *Proc) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "identity DIR",
		Short: "How well the same finding is recognised in other words",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			b, err := p.bench(a[0])
			if err != nil {
				return err
			}
			r, err := eval.Identity(c.Context(), b)
			if err != nil {
				return fmt.Errorf("measure identity: %w", err)
			}
			if asJSON {
				return json.NewEncoder(p.Stdout).Encode(r)
			}
			return writeIdentity(p.Stdout, r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return c
}

func evalAgreementCommand(p *Proc) *cobra.Command {
	var asJSON bool
	o := eval.AgreementOptions{}
	c := &cobra.Command{
		Use:   "agreement DIR",
		Short: "What agreement between reviewers is worth",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if o.Size < 2 || o.Size > 5 || o.Support < 1 || o.Support > o.Size || o.Sets < 1 {
				return usage("--size 4 --support 2 --sets 400", "--size is 2 to 5, --support 1 to that, --sets at least 1")
			}
			b, err := p.bench(a[0])
			if err != nil {
				return err
			}
			r, err := eval.Agreement(c.Context(), b, o)
			if err != nil {
				return fmt.Errorf("measure agreement: %w", err)
			}
			if asJSON {
				return json.NewEncoder(p.Stdout).Encode(r)
			}
			return writeAgreement(p.Stdout, r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	c.Flags().IntVar(&o.Size, "size", 4, "`N` reviewers in a set")
	c.Flags().IntVar(&o.Support, "support", 2, "`N` of them must raise a finding")
	c.Flags().IntVar(&o.Sets, "sets", 400, "draw `N` sets; all are taken where there are no more")
	c.Flags().Uint64Var(&o.Seed, "seed", 0, "`SEED` of the draw")
	return c
}

func evalStuckCommand(p *Proc) *cobra.Command {
	var asJSON bool
	var o eval.StuckOptions
	c := &cobra.Command{
		Use:   "stuck DIR",
		Short: "How well a finding that returns after a fix is recognised",
		Long: "Plays two rounds with a fix between them on recorded reviews: other tools raise the same problems in their own words,\n" +
			"with other ids, on lines the fix has moved. Prints how many of those that return are recognised.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, a []string) error {
			if o.Turns < 1 {
				return usage("--turns 20", "--turns is at least 1")
			}
			b, err := p.bench(a[0])
			if err != nil {
				return err
			}
			r, err := eval.Stuck(c.Context(), b, o)
			if err != nil {
				return fmt.Errorf("measure stuck findings: %w", err)
			}
			if asJSON {
				return json.NewEncoder(p.Stdout).Encode(r)
			}
			return writeStuck(p.Stdout, r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	c.Flags().IntVar(&o.Turns, "turns", 20, "draw `N` pairs of rounds for each pull request and setting")
	return c
}

func writeStuck(w io.Writer, r eval.StuckReport) error {
	fmt.Fprintf(w, "%d turns of two rounds on %d recorded pull requests; %s\n\n", r.Turns, r.Pulls, r.Split)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tFITTED: RECOGNISED\tHELD BACK: RECOGNISED\tFALSE MATCHES\tNEW ONES BLAMED")
	for _, row := range r.Rows {
		h := row.HeldBack
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.Setting, ratio(row.Fitted.Recognised, row.Fitted.Returned, row.Fitted.Recall),
			ratio(h.Recognised, h.Returned, h.Recall), ratio(h.Mistaken, h.Compared, h.FalseMatch), ratio(h.Blamed, h.New, h.FalseAlarm))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return goal(w, r.Met)
}

// goal says whether the held-back half reaches its goal (design.md "Identity").
func goal(w io.Writer, reached bool) error {
	met := "met"
	if !reached {
		met = "missed"
	}
	_, err := fmt.Fprintf(w, "\nGoal on the held-back half: at least %.0f %% recognised at no more than %.0f %% false matches: %s\n",
		100*eval.GoalRecall, 100*eval.GoalFalseMatch, met)
	return err
}

// bench reads a folder of recorded reviews; a relative name is one in the working directory.
func (p *Proc) bench(dir string) (eval.Bench, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return eval.Bench{}, usage("name a folder of recorded reviews, such as internal/eval/testdata/bench", "open recorded reviews: %w", err)
	}
	defer root.Close()
	b, err := eval.Read(root.FS())
	if errors.Is(err, eval.ErrNoBench) {
		return b, usage("name a folder of recorded reviews, such as internal/eval/testdata/bench", "%s: %w", dir, err)
	}
	return b, err
}

func writeIdentity(w io.Writer, r eval.IdentityReport) error {
	fmt.Fprintf(w, "%d reviews of %d recorded pull requests; %s\n\n", r.Reviews, r.Pulls, r.Split)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "METHOD\tFITTED: RECOGNISED\tFALSE MATCHES\tHELD BACK: RECOGNISED\tFALSE MATCHES")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.Method,
			ratio(row.Fitted.Recognised, row.Fitted.Same, row.Fitted.Recall), ratio(row.Fitted.Joined, row.Fitted.Different, row.Fitted.FalseMatch),
			ratio(row.HeldBack.Recognised, row.HeldBack.Same, row.HeldBack.Recall), ratio(row.HeldBack.Joined, row.HeldBack.Different, row.HeldBack.FalseMatch))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return goal(w, r.Met)
}

func ratio(part, whole int, share float64) string {
	return fmt.Sprintf("%.1f %% (%d of %d)", 100*share, part, whole)
}

// legend explains the columns of the agreement table.
const legend = `Sets of %d reviewers that each reach F1 %.0f alone. Means over the sets, in %%:
  BEST      F1 of the best member alone
  ALL       F1 of everything they say, joined
  SUPPORT   F1 (precision / recall) of what %d or more of them say
  FIRST     the same where only the first wording of a joined finding counts: a lower bound
and the share of sets in which one is better than another. GAIN is the median of SUPPORT - BEST.

`

func writeAgreement(w io.Writer, r eval.AgreementReport) error {
	fmt.Fprintf(w, legend, r.Size, 100*r.Floor, r.Support)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RECORDING\tJUDGE\tPULLS\tTOOLS\tSETS\tBEST\tALL\tSUPPORT\tFIRST\tSUPPORT>BEST\tGAIN\tSUPPORT>ALL\tBEST>ALL\tFIRST>BEST")
	left := 0
	for _, row := range r.Rows {
		how := "drawn"
		if row.Every {
			how = "all"
		}
		left = max(left, row.LeftOut)
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d %s\t%.1f\t%.1f\t%.1f (%.1f / %.1f)\t%.1f\t%.1f\t%+.1f\t%.1f\t%.1f\t%.1f\n",
			sanitize.Terminal(row.Recording), sanitize.Terminal(row.Judge), row.Pulls, len(row.Tools), row.Sets, how,
			100*row.Best.F1, 100*row.Everything.F1, 100*row.Supported.F1, 100*row.Supported.Precision, 100*row.Supported.Recall,
			100*row.FirstWording.F1, 100*row.BeatsBest, 100*row.Gain, 100*row.BeatsEverything, 100*row.EverythingLoses, 100*row.FirstBeatsBest)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		_, err := fmt.Fprintln(w, "No recording has enough reviewers with texts.")
		return err
	}
	if left > 0 {
		_, err := fmt.Fprintf(w, "\nUp to %s left out of a recording: the texts are held out.\n", plural(left, "pull request is", "pull requests are"))
		return err
	}
	return nil
}
