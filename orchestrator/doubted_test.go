package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// What a reviewer says of an earlier finding approves nothing. That a P0 or P1 remains, or may, keeps a round from being approved, though nobody
// raised it again; what is said of others, or by who had not raised it, is told.
func TestVerdictsOnEarlierFindings(t *testing.T) {
	for name, c := range map[string]struct {
		verdict, by      string
		priority         review.Priority
		outcome          review.Outcome
		report, unspoken string
	}{
		"a P1 is fixed":                {review.EarlierFixed, "reviewer-1", review.P1, review.Converged, "6 fixed", "says of"},
		"a P1 remains":                 {review.EarlierRemains, "reviewer-1", review.P1, review.Partial, "says that it remains or is not sure", "6 fixed"},
		"a P1 may remain":              {review.EarlierUnsure, "reviewer-1", review.P1, review.Partial, "that it cannot tell: see the code", "6 fixed"},
		"a P2 remains":                 {review.EarlierRemains, "reviewer-1", review.P2, review.Converged, "1 not raised again, and not said to be gone", "6 fixed"},
		"another says so of a P1":      {review.EarlierRemains, "static", review.P1, review.Converged, "that it remains, and no finding", "not said to be gone"},
		"another cannot tell of a P1":  {review.EarlierUnsure, "static", review.P1, review.Converged, "6 fixed", "says of"},
		"nobody was shown the finding": {review.EarlierRemains, "reviewer-1", "", review.Converged, "6 fixed", "says of"},
	} {
		t.Run(name, func(t *testing.T) {
			in := recordedRound(t, "gofr", "all", 2)
			id := "NONE-1"
			if i := slices.IndexFunc(in.Earlier, func(e Tracked) bool { return e.Findings[0].Priority == c.priority }); i >= 0 {
				id = in.Earlier[i].shownAs()
			}
			for i, h := range in.Reports {
				if h.Answer.Receipt.Name == c.by {
					said := *h.Answer.Reviewer
					said.Earlier = []review.EarlierVerdict{{FindingID: id, Verdict: c.verdict, Why: "see the code"}}
					in.Reports[i].Answer.Reviewer = &said
				}
			}
			j := Judge(in)
			text := j.Report
			if j.Result.Outcome != c.outcome || j.GoesOn || !strings.Contains(text, c.report) || strings.Contains(text, c.unspoken) {
				t.Errorf("%s, %v, report\n%s", j.Result.Outcome, j.GoesOn, text)
			}
		})
	}
}
