// Package scoring scores what agents said about review cases (eval.md "Scores"). Nothing here asks a model, and the same
// input gives the same figures.
package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/review"
)

// The measures: what has to agree for a finding to be an expected one.
const (
	// Place is the rule of the specification.
	Place = "place"
	// Content is Place, and the words.
	Content = "content"
	// Words is for expected findings without places.
	Words = "words"
	// Judge and a judge's name are the recorded verdicts of that judge.
	Judge = "judge:"
)

// Meaning says what a measure's precision counts.
func Meaning(measure string) string {
	switch measure {
	case Place:
		return "same file, same category, lines within 3, one to one"
	case Content:
		return "as place, and the words are alike; what repeats a known-wrong comment is false"
	case Words:
		return "the words are alike, wherever they stand, one to one"
	}
	return "by the recorded verdicts of " + strings.TrimPrefix(measure, Judge)
}

// Options say how to score.
type Options struct {
	// Measures are those to score by; empty means Place and Content.
	Measures []string
	// Partial scores what an interrupted run left, SkipUnplaced leaves out expected findings without place. Both are named in
	// the report; without them such input is refused.
	Partial, SkipUnplaced bool
	// CountRepeats makes what a judge set aside as a repetition a false alarm.
	CountRepeats bool
	// Samples and Seed are of the bootstrap; 0 samples means 2,000.
	Samples int
	Seed    uint64
}

func (o Options) samples() int       { return cmp.Or(o.Samples, 2000) }
func (o Options) measures() []string { return defaultMeasures(o.Measures) }

func defaultMeasures(list []string) []string {
	if len(list) == 0 {
		return []string{Place, Content}
	}
	return list
}

// Refusals a caller may branch on.
var (
	// ErrInterrupted: the run was interrupted.
	ErrInterrupted = errors.New("the run was interrupted")
	// ErrUnplaced: expected findings have no place.
	ErrUnplaced = errors.New("expected findings have no place")
	// ErrOtherData: results and cases, or two sets of results, are of different data.
	ErrOtherData = errors.New("different data")
	// ErrNoVerdict: a judge has not judged every review.
	ErrNoVerdict = errors.New("no verdict")
)

// Report is what a result set comes to.
type Report struct {
	Name string `json:"name"`
	// Data is the digest of the cases and what is expected of them.
	Data string `json:"data"`
	// Manifest pins what was asked and of whom.
	Manifest results.Manifest `json:"manifest"`
	// Pulls are the pull requests that were scored, Reviews their reviews.
	Pulls   int `json:"pulls"`
	Reviews int `json:"reviews"`
	// Notes name what is left out or failed.
	Notes    []string   `json:"notes"`
	Measures []Measured `json:"measures"`
	// Agreement is that of the judge who was asked; nil when nobody was.
	Agreement *Agreement `json:"agreement,omitempty"`
}

// Measured are the figures of one measure.
type Measured struct {
	Measure string `json:"measure"`
	Meaning string `json:"meaning"`
	// Result is the EvalResult of the specification.
	Result EvalResult `json:"result"`
	Total  Counts     `json:"total"`
	// Precision, Recall and F1 are 95 % intervals over pull requests; nil with fewer than two.
	Precision *Interval `json:"precision_interval"`
	Recall    *Interval `json:"recall_interval"`
	F1        *Interval `json:"f1_interval"`
	Slices    []Slice   `json:"slices"`
	// Calibration is nil when no finding has a confidence.
	Calibration *Calibration `json:"calibration"`
	// Cases are sorted by id.
	Cases []CaseCounts `json:"cases"`
	// Repeats is nil where each case was reviewed once.
	Repeats *Repeats `json:"repeats,omitempty"`

	Graded []Graded `json:"-"`
}

// EvalResult has the names of the specification. A figure that is not known is null: precision where nothing was
// raised, recall where nothing was expected. Cost and latency are means over the reviews that tell them. Calibration
// is the expected calibration error: 0 is best.
type EvalResult struct {
	Recall      *float64 `json:"recall"`
	Precision   *float64 `json:"precision"`
	F1          *float64 `json:"f1"`
	Calibration *float64 `json:"avg_confidence_calibration"`
	CostUSD     *float64 `json:"cost_usd"`
	Seconds     *float64 `json:"latency_seconds"`
}

// Counts sum up reviews.
type Counts struct {
	Reviews int `json:"reviews"`
	// Found and Missed are expected findings.
	Found  int `json:"found"`
	Missed int `json:"missed"`
	// Raised are all findings that count; those that are not right are the other three.
	Raised     int `json:"raised"`
	KnownWrong int `json:"known_wrong"`
	Repeats    int `json:"repeats"`
	Unlisted   int `json:"unlisted"`
}

func (c *Counts) add(d Counts) {
	c.Reviews += d.Reviews
	c.Found, c.Missed, c.Raised = c.Found+d.Found, c.Missed+d.Missed, c.Raised+d.Raised
	c.KnownWrong, c.Repeats, c.Unlisted = c.KnownWrong+d.KnownWrong, c.Repeats+d.Repeats, c.Unlisted+d.Unlisted
}

// False are the false alarms.
func (c Counts) False() int { return c.KnownWrong + c.Repeats + c.Unlisted }

// Precision is Found of Found and False, as the benchmarks count it; nil when both are 0. Recall and F1 are alike.
func (c Counts) Precision() *float64 { return ratio(c.Found, c.Found+c.False()) }

// Recall is Found of all expected.
func (c Counts) Recall() *float64 { return ratio(c.Found, c.Found+c.Missed) }

// F1 is the harmonic mean of the two.
func (c Counts) F1() *float64 { return ratio(2*c.Found, 2*c.Found+c.False()+c.Missed) }

func ratio(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}

// CaseCounts are the counts of one pull request over all its reviews.
type CaseCounts struct {
	Case string `json:"case"`
	Counts
	// CostUSD and Seconds are sums over the reviews that tell them, Priced and Timed how many those are.
	CostUSD float64 `json:"cost_usd"`
	Priced  int     `json:"priced"`
	Seconds float64 `json:"seconds"`
	Timed   int     `json:"timed"`
}

// Score scores a result set.
func Score(known cases.Set, set results.Set, o Options) (Report, error) {
	r := Report{Name: set.Manifest.Name, Manifest: set.Manifest}
	scored, err := r.take(known, set, o)
	if err != nil {
		return r, err
	}
	byID := map[string]cases.Case{}
	for _, c := range scored.Cases {
		byID[c.ID] = c
	}
	r.Data, r.Pulls, r.Reviews = scored.Digest(), len(scored.Cases), len(set.Reviews)
	for _, measure := range o.measures() {
		r.Measures = append(r.Measures, Measured{Measure: measure, Meaning: Meaning(measure)})
	}
	for _, c := range scored.Cases {
		if err := r.grade(c, set.Reviews, o); err != nil {
			return r, err
		}
	}
	for i := range r.Measures {
		r.Measures[i].settle(byID, o)
	}
	return r, nil
}

// grade adds the reviews of one case to every measure.
func (r *Report) grade(c cases.Case, reviews []results.Review, o Options) error {
	of := slices.DeleteFunc(slices.Clone(reviews), func(rev results.Review) bool { return rev.Case != c.ID })
	ready := matchers(c, of)
	for i := range r.Measures {
		m := &r.Measures[i]
		counts := CaseCounts{Case: c.ID}
		for k, rev := range of {
			g, err := gradeBy(m.Measure, c, rev, ready[k], o)
			if err != nil {
				return err
			}
			g.Repeat = rev.Repeat
			m.Graded = append(m.Graded, g)
			counts.take(g.Counts(), rev.Result.Stats)
		}
		m.Cases = append(m.Cases, counts)
	}
	return nil
}

// take checks that results and cases belong together, and gives the cases of the results.
func (r *Report) take(known cases.Set, set results.Set, o Options) (cases.Set, error) {
	var out cases.Set
	planned := map[string]string{}
	for _, p := range set.Manifest.Cases {
		planned[p.ID] = p.Input
	}
	reviewed := map[string]bool{}
	for _, rev := range set.Reviews {
		reviewed[rev.Case] = true
		if rev.Result.Status != review.StatusOK {
			r.note("%s/%d: the review has status %s", rev.Case, rev.Repeat, rev.Result.Status)
		}
	}
	if set.Interrupted() {
		what := "it was never sealed"
		if len(set.Missing) > 0 {
			what = "missing: " + strings.Join(set.Missing, ", ")
		}
		if !o.Partial {
			return out, fmt.Errorf("%s: %w: %s", r.Name, ErrInterrupted, what)
		}
		r.note("PARTIAL: the run was interrupted; %s", what)
	}
	var left []string
	for _, c := range known.Cases {
		input, ok := planned[c.ID]
		delete(planned, c.ID)
		if ok && input != c.InputDigest {
			return out, fmt.Errorf("%s: %w: the results are of another %s: its input has the SHA-256 %s, not %s", r.Name, ErrOtherData, c.ID, c.InputDigest, input)
		}
		if !ok || !reviewed[c.ID] {
			left = append(left, c.ID)
			continue
		}
		c, err := r.placed(c, o)
		if err != nil {
			return out, err
		}
		out.Cases = append(out.Cases, c)
	}
	for id := range planned {
		return out, fmt.Errorf("%s: %w: there is no case %s", r.Name, ErrOtherData, id)
	}
	if len(left) > 0 {
		r.note("not in these results: %s", strings.Join(left, ", "))
	}
	if len(out.Cases) == 0 {
		return out, fmt.Errorf("%s: %w: nothing is left to score", r.Name, ErrInterrupted)
	}
	return out, nil
}

// placed refuses expected findings without place where places are asked for, or leaves them out by name.
func (r *Report) placed(c cases.Case, o Options) (cases.Case, error) {
	if !slices.ContainsFunc(o.measures(), func(m string) bool { return m == Place || m == Content }) {
		return c, nil
	}
	var without []string
	golden := slices.DeleteFunc(slices.Clone(c.Golden), func(e cases.Expected) bool {
		if len(c.Places(e)) == 0 {
			without = append(without, e.ID)
			return true
		}
		return false
	})
	if len(without) == 0 {
		return c, nil
	}
	if !o.SkipUnplaced {
		return c, fmt.Errorf("%s: %w: %s", c.ID, ErrUnplaced, strings.Join(without, ", "))
	}
	r.note("%s: left out, for they have no place: %s", c.ID, strings.Join(without, ", "))
	c.Golden = golden
	return c, nil
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

func gradeBy(measure string, c cases.Case, rev results.Review, m *matcher, o Options) (Graded, error) {
	switch measure {
	case Place:
		return m.grade(true, false), nil
	case Content:
		return m.grade(true, true), nil
	case Words:
		return m.grade(false, true), nil
	}
	judge := strings.TrimPrefix(measure, Judge)
	v, ok := rev.Verdicts[judge]
	if !ok {
		return Graded{}, fmt.Errorf("%w of %s on %s/%d", ErrNoVerdict, judge, rev.Case, rev.Repeat)
	}
	for _, s := range v.Same {
		if !slices.ContainsFunc(c.Golden, func(e cases.Expected) bool { return e.ID == s.Golden }) {
			return Graded{}, fmt.Errorf("%w: %s names %s, which %s does not expect", ErrOtherData, judge, s.Golden, c.ID)
		}
	}
	return Judged(c, rev.Result.Issues, v, o.CountRepeats), nil
}

// take adds a review. A cost or time of 0 is one nobody told.
func (c *CaseCounts) take(n Counts, s review.ReviewStats) {
	c.add(n)
	if s.CostUSD > 0 {
		c.CostUSD, c.Priced = c.CostUSD+s.CostUSD, c.Priced+1
	}
	if s.Seconds > 0 {
		c.Seconds, c.Timed = c.Seconds+s.Seconds, c.Timed+1
	}
}

// settle sums up what was graded.
func (m *Measured) settle(byID map[string]cases.Case, o Options) {
	all := total(m.Cases)
	m.Total = all.Counts
	m.Slices = slicesOf(byID, m.Graded)
	m.Repeats = repeats(m.Graded)
	m.Calibration = calibrate(m.Graded)
	m.Result = EvalResult{Recall: all.Recall(), Precision: all.Precision(), F1: all.F1(), CostUSD: mean(all.CostUSD, all.Priced), Seconds: mean(all.Seconds, all.Timed)}
	if m.Calibration != nil {
		m.Result.Calibration = &m.Calibration.Error
	}
	if len(m.Cases) > 1 {
		draws := resample(o, m.Cases)[0]
		m.Precision, m.Recall, m.F1 = spread(draws, precision), spread(draws, recall), spread(draws, f1)
	}
}

func (c *CaseCounts) plus(d CaseCounts) {
	c.add(d.Counts)
	c.CostUSD, c.Priced, c.Seconds, c.Timed = c.CostUSD+d.CostUSD, c.Priced+d.Priced, c.Seconds+d.Seconds, c.Timed+d.Timed
}

func mean(total float64, n int) *float64 {
	if n == 0 {
		return nil
	}
	m := total / float64(n)
	return &m
}
