package scoring

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/eval/results"
)

// Interval holds 95 of 100 draws.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// figure is a number that counts come to; ok is false when they come to none.
type figure func(CaseCounts) (value float64, ok bool)

func valueOf(p *float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

func precision(c CaseCounts) (float64, bool) { return valueOf(c.Precision()) }
func recall(c CaseCounts) (float64, bool)    { return valueOf(c.Recall()) }
func f1(c CaseCounts) (float64, bool)        { return valueOf(c.F1()) }
func raised(c CaseCounts) (float64, bool)    { return valueOf(ratio(c.Raised, c.Reviews)) }
func cost(c CaseCounts) (float64, bool)      { return valueOf(mean(c.CostUSD, c.Priced)) }
func seconds(c CaseCounts) (float64, bool)   { return valueOf(mean(c.Seconds, c.Timed)) }

// resample draws pull requests with replacement, as many as there are, and sums them up with all their reviews: for each of the
// lists, the same ones in each draw.
func resample(o Options, lists ...[]CaseCounts) [][]CaseCounts {
	random := rand.New(rand.NewPCG(o.Seed, 0))
	n, out := len(lists[0]), make([][]CaseCounts, len(lists))
	for range o.samples() {
		sums := make([]CaseCounts, len(lists))
		for range n {
			drawn := random.IntN(n)
			for k, list := range lists {
				sums[k].plus(list[drawn])
			}
		}
		for k := range lists {
			out[k] = append(out[k], sums[k])
		}
	}
	return out
}

func total(list []CaseCounts) CaseCounts {
	var sum CaseCounts
	for _, c := range list {
		sum.plus(c)
	}
	return sum
}

// spread is the interval of a figure; draws in which it has no value are left out.
func spread(sums []CaseCounts, f figure) *Interval {
	var values []float64
	for _, s := range sums {
		if v, ok := f(s); ok {
			values = append(values, v)
		}
	}
	return middle(values)
}

func middle(values []float64) *Interval {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	last := len(values) - 1
	return &Interval{values[last*25/1000], values[last-last*25/1000]}
}

// Verdict on a difference.
type Verdict string

// The verdicts. Better and Worse are said only when the whole interval lies on one side of 0.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Undecided Verdict = "cannot tell"
)

// Comparison holds result set B against A, on the same pull requests.
type Comparison struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Measure string `json:"measure"`
	Meaning string `json:"meaning"`
	Data    string `json:"data"`
	Pulls   int    `json:"pulls"`
	// Changed names what is pinned and not the same: agents, models, prompts, settings, seed, repeats.
	Changed []string `json:"changed"`
	// Samples and Seed are of the bootstrap.
	Samples int     `json:"samples"`
	Seed    uint64  `json:"seed"`
	Deltas  []Delta `json:"deltas"`
}

// Delta is one figure of both.
type Delta struct {
	Figure string  `json:"figure"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	// Interval is that of B - A.
	Interval Interval `json:"interval"`
	Verdict  Verdict  `json:"verdict"`
}

// Figures of a comparison.
const (
	F1        = "F1"
	Precision = "precision"
	Recall    = "recall"
	Findings  = "findings a review"
	Cost      = "dollars a review"
	Seconds   = "seconds a review"
)

// Find gives the delta of a figure.
func (c Comparison) Find(figure string) (Delta, bool) {
	i := slices.IndexFunc(c.Deltas, func(d Delta) bool { return d.Figure == figure })
	if i < 0 {
		return Delta{}, false
	}
	return c.Deltas[i], true
}

// ErrFew: intervals over fewer than two pull requests say nothing.
var ErrFew = errors.New("fewer than two pull requests")

// Compare holds b against a by one measure: pull requests are drawn with replacement, the same ones for both. Reports of
// different data are refused.
func Compare(a, b Report, measure string, o Options) (Comparison, error) {
	c := Comparison{A: a.Name, B: b.Name, Measure: measure, Meaning: Meaning(measure), Data: a.Data, Pulls: a.Pulls, Samples: o.samples(), Seed: o.Seed, Changed: changed(a.Manifest, b.Manifest)}
	if a.Data != b.Data {
		return c, fmt.Errorf("compare %s with %s: %w: their cases have the SHA-256 %s and %s", a.Name, b.Name, ErrOtherData, a.Data, b.Data)
	}
	left, right, err := bothBy(a, b, measure)
	if err != nil {
		return c, err
	}
	if len(left) < 2 {
		return c, fmt.Errorf("compare %s with %s: %w", a.Name, b.Name, ErrFew)
	}
	drawn := resample(o, left, right)
	for _, f := range []struct {
		name string
		of   figure
		sign float64 // of what is better; 0 for a figure that is neither
	}{{F1, f1, 1}, {Precision, precision, 1}, {Recall, recall, 1}, {Findings, raised, 0}, {Cost, cost, -1}, {Seconds, seconds, -1}} {
		va, okA := f.of(total(left))
		vb, okB := f.of(total(right))
		if !okA || !okB {
			continue
		}
		var differences []float64
		for i := range drawn[0] {
			x, okX := f.of(drawn[0][i])
			y, okY := f.of(drawn[1][i])
			if okX && okY {
				differences = append(differences, y-x)
			}
		}
		if i := middle(differences); i != nil {
			c.Deltas = append(c.Deltas, Delta{f.name, va, vb, *i, judge(*i, f.sign)})
		}
	}
	return c, nil
}

func judge(i Interval, sign float64) Verdict {
	switch {
	case sign > 0 && i.Low > 0, sign < 0 && i.High < 0:
		return Better
	case sign > 0 && i.High < 0, sign < 0 && i.Low > 0:
		return Worse
	case sign == 0:
		return ""
	}
	return Undecided
}

func bothBy(a, b Report, measure string) (left, right []CaseCounts, err error) {
	of := func(r Report) []CaseCounts {
		for _, m := range r.Measures {
			if m.Measure == measure {
				return m.Cases
			}
		}
		return nil
	}
	left, right = of(a), of(b)
	same := func(x, y CaseCounts) bool { return x.Case == y.Case }
	switch {
	case left == nil:
		return nil, nil, fmt.Errorf("%s was not scored by %s", a.Name, measure)
	case right == nil:
		return nil, nil, fmt.Errorf("%s was not scored by %s", b.Name, measure)
	case !slices.EqualFunc(left, right, same):
		return nil, nil, fmt.Errorf("compare %s with %s: %w: not the same pull requests", a.Name, b.Name, ErrOtherData)
	}
	return left, right, nil
}

// changed names what two sets do not have in common.
func changed(a, b results.Manifest) []string {
	var out []string
	differ := func(what, x, y string) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %s, %s", what, cmp.Or(x, "not told"), cmp.Or(y, "not told")))
		}
	}
	differ("agents", strings.Join(a.Agents, " "), strings.Join(b.Agents, " "))
	differ("models", strings.Join(a.Models, " "), strings.Join(b.Models, " "))
	names := map[string]bool{}
	for _, m := range []results.Manifest{a, b} {
		for name := range m.Prompts {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		differ("prompt "+name, fmt.Sprintf("%.12s", a.Prompts[name]), fmt.Sprintf("%.12s", b.Prompts[name]))
	}
	differ("settings", fmt.Sprintf("%.12s", a.Settings), fmt.Sprintf("%.12s", b.Settings))
	differ("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	differ("repeats", fmt.Sprint(a.Repeats), fmt.Sprint(b.Repeats))
	return out
}
