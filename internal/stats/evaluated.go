package stats

import (
	"fmt"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/internal/weight/calibration"
)

// Evaluated is what a result set says of the confidence of its reviewers.
type Evaluated struct {
	Observations []calibration.Observation
	// Unattributed is how many findings have a confidence that is nobody's: several models made the review.
	Unattributed int
}

// Evaluate scores a result set by one measure. A finding holds when it is an expected one; those that repeat another say nothing.
func Evaluate(casesDir, resultsDir, measure string) (Evaluated, error) {
	var out Evaluated
	known, err := cases.Read(casesDir)
	if err != nil {
		return out, err
	}
	set, err := results.Open(resultsDir)
	if err != nil {
		return out, err
	}
	report, err := scoring.Score(known, set, scoring.Options{Measures: []string{measure}, Samples: 1})
	if err != nil {
		return out, err
	}
	models := map[string]string{}
	for _, r := range set.Reviews {
		models[fmt.Sprint(r.Case, "/", r.Repeat)] = single(r.Result.ModelsUsed, set.Manifest.Models)
	}
	for _, g := range report.Measures[0].Graded {
		model := models[fmt.Sprint(g.Case, "/", g.Repeat)]
		for _, f := range g.Findings {
			switch {
			case f.Confidence == nil || f.Fate == scoring.FateRepeat:
			case model == "":
				out.Unattributed++
			default:
				out.Observations = append(out.Observations, calibration.Observation{
					Model: model, Of: calibration.Confidence, Stated: *f.Confidence, Held: f.Fate == scoring.FateRight, From: calibration.FromEval,
				})
			}
		}
	}
	return out, nil
}

// single is the one model of a review, as the review or else its set names it; empty when there are several.
func single(review, set []string) string {
	for _, list := range [][]string{review, set} {
		if len(list) == 1 {
			return list[0]
		}
		if len(list) > 1 {
			return ""
		}
	}
	return ""
}
