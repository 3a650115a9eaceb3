package scoring

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/prloop/prloop/sanitize"
)

// Write prints the figures.
func (r Report) Write(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %s; data %.12s\n", sanitize.Terminal(r.Name), plural(r.Pulls, "pull request"), plural(r.Reviews, "review"), r.Data)
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  %s\n", sanitize.Terminal(n))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nMEASURE\tPRECISION\tRECALL\tF1\tFOUND\tMISSED\tRAISED\tKNOWN WRONG\tREPEATS\tUNLISTED")
	for _, m := range r.Measures {
		n := m.Total
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", sanitize.Terminal(m.Measure), Percent(m.Result.Precision, m.Precision),
			Percent(m.Result.Recall, m.Recall), Percent(m.Result.F1, m.F1), n.Found, n.Missed, n.Raised, n.KnownWrong, n.Repeats, n.Unlisted)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nShares in %, with the 95 % interval over pull requests. A finding is right by")
	for _, m := range r.Measures {
		fmt.Fprintf(w, "  %-8s %s\n", sanitize.Terminal(m.Measure), sanitize.Terminal(m.Meaning))
	}
	if r.Agreement != nil {
		if err := r.Agreement.Write(w); err != nil {
			return err
		}
	}
	return r.Primary().write(w)
}

// Primary is the measure that details are given by: the last one.
func (r Report) Primary() Measured { return r.Measures[len(r.Measures)-1] }

func (m Measured) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	by := ""
	for _, s := range m.Slices {
		if s.By != by {
			by = s.By
			fmt.Fprintf(t, "\nBY %s (%s)\tPRECISION\t\tRECALL\t\n", strings.ToUpper(by), sanitize.Terminal(m.Measure))
		}
		fmt.Fprintf(t, "%s\t%s\t%d of %d\t%s\t%d of %d\n", sanitize.Terminal(s.Name), Percent(s.Precision(), nil), s.Right, s.Raised, Percent(s.Recall(), nil), s.Found, s.Expected)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if m.Repeats != nil {
		fmt.Fprintln(w, m.Repeats)
	}
	if c := m.Calibration; c != nil {
		fmt.Fprintf(w, "calibration: error %.3f, Brier %.3f, over %s; %d without a confidence\n", c.Error, c.Brier, plural(c.Findings, "finding"), c.Silent)
	} else {
		fmt.Fprintln(w, "calibration: no finding has a confidence")
	}
	known := func(v *float64, format string) string {
		if v == nil {
			return "not told"
		}
		return fmt.Sprintf(format, *v)
	}
	_, err := fmt.Fprintf(w, "a review: cost %s, time %s\n", known(m.Result.CostUSD, "$%.4f"), known(m.Result.Seconds, "%.1fs"))
	return err
}

// Percent prints a share and its interval; a share that is not known is a dash.
func Percent(v *float64, i *Interval) string {
	switch {
	case v == nil:
		return "-"
	case i == nil:
		return fmt.Sprintf("%.1f", 100**v)
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f]", 100**v, 100*i.Low, 100*i.High)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Write prints the comparison.
func (c Comparison) Write(w io.Writer) error {
	fmt.Fprintf(w, "B %s against A %s by %s (%s)\n%s, drawn with replacement %d times, the same for both; seed %d; data %.12s\n",
		sanitize.Terminal(c.B), sanitize.Terminal(c.A), sanitize.Terminal(c.Measure), sanitize.Terminal(c.Meaning), plural(c.Pulls, "pull request"), c.Samples, c.Seed, c.Data)
	for _, n := range c.Changed {
		fmt.Fprintf(w, "  %s\n", sanitize.Terminal(n))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nFIGURE\tA\tB\tB - A\t95 % INTERVAL\t")
	for _, d := range c.Deltas {
		scale, format := 100.0, "%.1f"
		switch d.Figure {
		case Findings, Seconds:
			scale = 1
		case Cost:
			scale, format = 1, "%.4f"
		}
		row := strings.ReplaceAll("%s\tF\tF\t+F\t[+F, +F]\t%s\n", "+F", strings.Replace(format, "%", "%+", 1))
		fmt.Fprintf(t, strings.ReplaceAll(row, "F", format), d.Figure, scale*d.A, scale*d.B, scale*(d.B-d.A), scale*d.Interval.Low, scale*d.Interval.High, d.Verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if c.Pulls < few {
		_, err := fmt.Fprintf(w, "\nWith fewer than %d pull requests the intervals are rough, and mostly too narrow.\n", few)
		return err
	}
	return nil
}

// few is from where on bootstrap intervals hold what they promise, more or less.
const few = 20
