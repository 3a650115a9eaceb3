package scoring_test

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/eval/scoring"
	"github.com/prloop/prloop/review"
)

// TestRepeatsAreToldApart: three reviews of one case that find both, one and none of two expected findings; one repeat raises nothing and has no precision.
func TestRepeatsAreToldApart(t *testing.T) {
	expected := func(id string, line int) cases.Expected {
		return cases.Expected{ID: id, Text: id, Categories: []string{"bug"}, Anchors: []cases.Anchor{{File: "a.go", Start: line, End: line, Side: "right"}}}
	}
	known := cases.Set{Cases: []cases.Case{{ID: "one", Golden: []cases.Expected{expected("G1", 10), expected("G2", 90)}}}}
	set := results.Set{Manifest: results.Manifest{Name: "x", Repeats: 3, Cases: []results.Planned{{ID: "one"}}}, Sealed: true}
	for n, lines := range [][]int{{10, 90}, {10, 500}, nil} {
		r := results.Review{Case: "one", Repeat: n + 1, Result: review.ReviewResult{Status: review.StatusOK}}
		for _, line := range lines {
			r.Result.Issues = append(r.Result.Issues, review.Issue{Key: string(rune('a' + line%26)), Title: "it", File: "a.go", LineStart: line, Category: "bug"})
		}
		set.Reviews = append(set.Reviews, r)
	}
	score := func(set results.Set) (*scoring.Repeats, string) {
		r, err := scoring.Score(known, set, scoring.Options{Measures: []string{scoring.Place}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		return r.Measures[0].Repeats, b.String()
	}
	r, text := score(set)
	if r == nil || *r.Recall[0] != 1 || *r.Recall[1] != 0.5 || *r.Recall[2] != 0 || *r.Precision[1] != 0.5 || r.Precision[2] != nil ||
		!strings.Contains(text, "3 repeats, each by itself: precision 50.0 to 100.0 (standard deviation 35.4); recall 0.0 to 100.0 (standard deviation 50.0); F1 0.0 to 100.0 (standard deviation 50.0)") {
		t.Errorf("%+v\n%s", r, text)
	}
	set.Manifest.Repeats, set.Reviews = 1, set.Reviews[:1]
	if r, text := score(set); r != nil || strings.Contains(text, "repeats, each") {
		t.Errorf("one review has repeats: %+v\n%s", r, text)
	}
}
