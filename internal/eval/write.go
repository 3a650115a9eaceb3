package eval

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/prloop/prloop/sanitize"
)

// Write prints the figures as a table.
func (r StuckReport) Write(w io.Writer) error {
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

// goal says whether the held-back half reaches the goal of docs/eval.md.
func goal(w io.Writer, reached bool) error {
	met := "met"
	if !reached {
		met = "missed"
	}
	_, err := fmt.Fprintf(w, "\nGoal on the held-back half: at least %.0f %% recognised at no more than %.0f %% false matches: %s\n",
		100*GoalRecall, 100*GoalFalseMatch, met)
	return err
}

// Write prints the figures as a table.
func (r IdentityReport) Write(w io.Writer) error {
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

// Write prints the figures as a table.
func (r AgreementReport) Write(w io.Writer) error {
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
		what := "pull requests are"
		if left == 1 {
			what = "pull request is"
		}
		_, err := fmt.Fprintf(w, "\nUp to %d %s left out of a recording: the texts are held out.\n", left, what)
		return err
	}
	return nil
}
