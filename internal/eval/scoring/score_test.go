package scoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

// world is n cases with three expected findings each, and an agent that finds the first hits(i) of them and raises alarms(i)
// more.
func world(n int, hits, alarms func(int) int) (cases.Set, results.Set) {
	var known cases.Set
	set := results.Set{Sealed: true, Manifest: results.Manifest{Format: results.Format, Name: "agent", Repeats: 1}}
	for i := range n {
		c := cases.Case{ID: fmt.Sprintf("case-%02d", i), Language: []string{"go", "python"}[i%2], InputDigest: fmt.Sprint("input ", i), ExpectedDigest: fmt.Sprint("expected ", i)}
		c.Changed = 30 * (i + 1)
		r := results.Review{Case: c.ID, Repeat: 1, Result: review.ReviewResult{Status: review.StatusOK, Stats: review.ReviewStats{CostUSD: 0.5, Seconds: 60}}}
		for k, text := range []string{leak, "The index is off by one at the end of the list", "User input reaches the shell unescaped"} {
			e := expected(fmt.Sprint("g", k), text, 20*(k+1), []string{"bug", "logic", "security"}[k])
			if k == 2 {
				e.Severity = "critical"
			}
			c.Golden = append(c.Golden, e)
			if k < hits(i) {
				f := issue(fmt.Sprint("f", k), text, 20*(k+1), e.Categories[0])
				confidence := 0.85
				f.Severity, f.Confidence = "high", &confidence
				r.Result.Issues = append(r.Result.Issues, f)
			}
		}
		for k := range alarms(i) {
			confidence := 0.35
			f := issue(fmt.Sprint("x", k), other, 200+20*k, "style")
			f.Severity, f.Confidence = "low", &confidence
			r.Result.Issues = append(r.Result.Issues, f)
		}
		known.Cases, set.Reviews = append(known.Cases, c), append(set.Reviews, r)
		set.Manifest.Cases = append(set.Manifest.Cases, results.Planned{ID: c.ID, Input: c.InputDigest})
	}
	return known, set
}

func always(n int) func(int) int { return func(int) int { return n } }

func score(t *testing.T, known cases.Set, set results.Set, o Options) Report {
	t.Helper()
	r, err := Score(known, set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestScore(t *testing.T) {
	known, set := world(10, always(2), always(1))
	r := score(t, known, set, Options{})
	if len(r.Measures) != 2 || r.Pulls != 10 || r.Reviews != 10 || len(r.Notes) != 0 {
		t.Fatalf("%+v", r)
	}
	m := r.Primary()
	if m.Measure != Content || *m.Result.Precision != 20.0/30 || *m.Result.Recall != 20.0/30 || *m.Result.CostUSD != 0.5 || *m.Result.Seconds != 60 {
		t.Errorf("%+v", m.Result)
	}
	if m.F1.Low != m.F1.High || m.F1.Low != *m.Result.F1 {
		t.Errorf("all pull requests are alike, and the interval is %v", m.F1)
	}
	// 20 right ones at 0.85, 10 false ones at 0.35.
	if c := m.Calibration; math.Abs(c.Error-(20*0.15+10*0.35)/30) > 1e-9 || math.Abs(c.Brier-(20*0.15*0.15+10*0.35*0.35)/30) > 1e-9 || len(c.Tenths) != 2 || *m.Result.Calibration != c.Error {
		t.Errorf("%+v", c)
	}
	want := []Slice{
		{BySeverity, "critical", 0, 10, 0, 0}, {BySeverity, "high", 0, 0, 20, 20}, {BySeverity, "low", 0, 0, 0, 10}, {BySeverity, cases.Unknown, 20, 20, 0, 0},
		{ByCategory, "security", 0, 10, 0, 0}, {ByCategory, "bug", 10, 10, 10, 10}, {ByCategory, "style", 0, 0, 0, 10}, {ByCategory, "logic", 10, 10, 10, 10},
		{ByLanguage, "go", 10, 15, 10, 15}, {ByLanguage, "python", 10, 15, 10, 15},
		{BySize, "1-40 lines", 2, 3, 2, 3}, {BySize, "41-170 lines", 8, 12, 8, 12}, {BySize, "171-600 lines", 10, 15, 10, 15},
	}
	if d := cmp.Diff(want, m.Slices); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"66.7 [66.7, 66.7]", "same file, same category, lines within 3, one to one", "BY severity (content)", "calibration: error 0.217", "cost $0.5000, time 60.0s"} {
		if !strings.Contains(strings.ReplaceAll(out.String(), "BY SEVERITY", "BY severity"), want) {
			t.Errorf("%q is not printed:\n%s", want, out.String())
		}
	}
}

// TestUnknownIsNotZero: an agent that says nothing has no precision, and a free one no cost.
func TestUnknownIsNotZero(t *testing.T) {
	known, set := world(2, always(0), always(0))
	for i := range set.Reviews {
		set.Reviews[i].Result.Stats = review.ReviewStats{}
	}
	m := score(t, known, set, Options{}).Primary()
	data, err := json.Marshal(m.Result)
	if want := `{"recall":0,"precision":null,"f1":0,"avg_confidence_calibration":null,"cost_usd":null,"latency_seconds":null}`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
}

func TestCleanCases(t *testing.T) {
	known, set := world(2, always(3), always(1))
	known.Cases[1].Golden, known.Cases[1].Clean = nil, true
	m := score(t, known, set, Options{}).Primary()
	if m.Total.Found != 3 || m.Total.Missed != 0 || m.Total.False() != 5 {
		t.Errorf("%+v", m.Total)
	}
}

func TestScoreRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*cases.Set, *results.Set)
		is     error
		says   string
		// by makes it acceptable, noted so.
		by    Options
		noted string
	}{
		"a run that was killed": {func(_ *cases.Set, s *results.Set) { s.Sealed = false }, ErrInterrupted, "never sealed", Options{Partial: true}, "PARTIAL"},
		"a review that is missing": {func(_ *cases.Set, s *results.Set) {
			s.Reviews, s.Missing = s.Reviews[1:], []string{"case-00/1"}
		}, ErrInterrupted, "case-00/1", Options{Partial: true}, "case-00/1"},
		"expected findings without place": {func(c *cases.Set, _ *results.Set) { c.Cases[1].Golden[2].Anchors = nil }, ErrUnplaced, "case-01: expected findings have no place: g2", Options{SkipUnplaced: true}, "case-01: left out, for they have no place: g2"},
		"another input":                   {func(c *cases.Set, _ *results.Set) { c.Cases[0].InputDigest = "changed" }, ErrOtherData, "another case-00", Options{}, ""},
		"a case that is gone":             {func(c *cases.Set, _ *results.Set) { c.Cases = c.Cases[1:] }, ErrOtherData, "no case case-00", Options{}, ""},
		"a judge that did not judge":      {func(*cases.Set, *results.Set) {}, nil, "", Options{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			known, set := world(3, always(2), always(1))
			row.change(&known, &set)
			_, err := Score(known, set, Options{})
			if !errors.Is(err, row.is) || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Fatalf("%v, not %v", err, row.is)
			}
			if row.noted == "" {
				return
			}
			if r := score(t, known, set, row.by); !strings.Contains(strings.Join(r.Notes, "\n"), row.noted) {
				t.Errorf("not noted: %v", r.Notes)
			}
		})
	}
	known, set := world(2, always(2), always(1))
	if _, err := Score(known, set, Options{Measures: []string{"judge:x"}}); !errors.Is(err, ErrNoVerdict) {
		t.Errorf("a judge without verdicts: %v", err)
	}
	set.Reviews[0].Verdicts = map[string]results.Verdict{"x": {Same: []results.Same{{Golden: "g9", Finding: "f0"}}}}
	if _, err := Score(known, set, Options{Measures: []string{"judge:x"}}); !errors.Is(err, ErrOtherData) {
		t.Errorf("a verdict on another case: %v", err)
	}
	set.Reviews[0].Result.Status = review.StatusError
	if r := score(t, known, set, Options{}); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "case-00/1: the review has status error") {
		t.Errorf("a failed review is not named: %v", r.Notes)
	}
	if r := score(t, cases.Set{Cases: append(known.Cases, cases.Case{ID: "more"})}, set, Options{}); !strings.Contains(strings.Join(r.Notes, "\n"), "not in these results: more") {
		t.Errorf("a case that was not run is not named: %v", r.Notes)
	}
}

func comparing(t *testing.T, n int, hitsA, hitsB, alarmsA, alarmsB func(int) int) Comparison {
	t.Helper()
	known, a := world(n, hitsA, alarmsA)
	_, b := world(n, hitsB, alarmsB)
	c, err := Compare(score(t, known, a, Options{}), score(t, known, b, Options{}), Content, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func verdict(t *testing.T, c Comparison, figure string) Verdict {
	t.Helper()
	d, ok := c.Find(figure)
	if !ok {
		t.Fatalf("no %s: %+v", figure, c)
	}
	return d.Verdict
}

func TestCompare(t *testing.T) {
	some := func(i int) int { return i % 4 }
	one := func(i int) int { return max(1, i%4) }
	if c := comparing(t, 20, some, some, always(1), always(1)); verdict(t, c, F1) != Undecided || c.Deltas[0].Interval != (Interval{}) {
		t.Errorf("the same results: %+v", c.Deltas[0])
	}
	// One more expected finding on each fourth of 20 pull requests, which themselves differ widely: pairing sees it.
	c := comparing(t, 20, some, one, always(1), always(1))
	if verdict(t, c, F1) != Better || verdict(t, c, Recall) != Better {
		t.Errorf("one more on each fourth pull request: %+v", c)
	}
	unpaired := score2(t, 20, some).Primary().Recall
	if more := score2(t, 20, one).Primary().Recall; more.Low > unpaired.High {
		t.Errorf("the intervals of both alone are apart, so this shows nothing of pairing: %v %v", unpaired, more)
	}
	if c := comparing(t, 20, one, some, always(1), always(1)); verdict(t, c, F1) != Worse {
		t.Errorf("turned round: %+v", c)
	}
	// As many better as worse.
	up := func(i int) int { return 1 + i%2 }
	down := func(i int) int { return 2 - i%2 }
	if c := comparing(t, 20, up, down, always(1), always(1)); verdict(t, c, F1) != Undecided {
		t.Errorf("half better, half worse: %+v", c)
	}
	if c := comparing(t, 20, some, some, always(3), always(1)); verdict(t, c, Precision) != Better || verdict(t, c, Recall) != Undecided || verdict(t, c, Findings) != "" {
		t.Errorf("fewer false alarms: %+v", c)
	}
}

// TestCompareNamesWhatChanged: models, prompts and settings are pinned, and what is not the same is said.
func TestCompareNamesWhatChanged(t *testing.T) {
	known, a := world(3, always(2), always(1))
	_, b := world(3, always(2), always(1))
	a.Manifest.Prompts = map[string]string{"reviewer": "aaaa", "verifier": "same"}
	b.Manifest.Prompts = map[string]string{"reviewer": "bbbb", "verifier": "same"}
	b.Manifest.Models, b.Manifest.Seed = []string{"m"}, 3
	c, err := Compare(score(t, known, a, Options{}), score(t, known, b, Options{}), Content, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"models: not told, m", "prompt reviewer: aaaa, bbbb", "seed: 0, 3"}, c.Changed); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil || !strings.Contains(out.String(), "prompt reviewer: aaaa, bbbb") || !strings.Contains(out.String(), "With fewer than 20 pull requests the intervals are rough") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func score2(t *testing.T, n int, hits func(int) int) Report {
	known, set := world(n, hits, always(1))
	return score(t, known, set, Options{})
}

func TestCompareRefuses(t *testing.T) {
	known, a := world(4, always(2), always(1))
	ra := score(t, known, a, Options{})
	changed, b := world(4, always(2), always(1))
	changed.Cases[0].ExpectedDigest = "others are expected"
	if _, err := Compare(ra, score(t, changed, b, Options{}), Content, Options{}); !errors.Is(err, ErrOtherData) {
		t.Errorf("other expectations: %v", err)
	}
	fewer, c := world(3, always(2), always(1))
	if _, err := Compare(ra, score(t, fewer, c, Options{}), Content, Options{}); !errors.Is(err, ErrOtherData) {
		t.Errorf("fewer cases: %v", err)
	}
	if _, err := Compare(ra, ra, Words, Options{}); err == nil {
		t.Error("a measure nobody scored by is compared")
	}
	single, d := world(1, always(2), always(1))
	r := score(t, single, d, Options{})
	if _, err := Compare(r, r, Content, Options{}); !errors.Is(err, ErrFew) {
		t.Errorf("one pull request: %v", err)
	}
}

// TestIntervalsCover draws many small data sets from one whose F1 is known, and counts how often the interval holds it.
func TestIntervalsCover(t *testing.T) {
	held, trials, dice := 0, 200, rand.New(rand.NewPCG(1, 2))
	for range trials {
		// Pull requests with 0 to 3 of 3 found, in equal parts: recall 1/2.
		known, set := world(40, func(int) int { return dice.IntN(4) }, always(1))
		r := score(t, known, set, Options{Measures: []string{Place}, Samples: 300})
		if i := r.Primary().Recall; i.Low <= 0.5 && 0.5 <= i.High {
			held++
		}
	}
	if held < trials*85/100 {
		t.Errorf("the 95 %% interval holds the truth in %d of %d", held, trials)
	}
}
