package scoring

import (
	"slices"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/eval/results"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// Pair is an expected finding and a finding of a review, and what the deterministic measures say of them.
type Pair struct {
	Golden  cases.Expected
	Finding review.Issue
	// Place is true where file, category and lines fit, Words where the words are alike, and Alike is how much, 0 to 1.
	Place, Words bool
	Alike        float64
	// KnownWrong is true for a finding that Content takes for a comment people judged wrong: a certain false alarm.
	KnownWrong bool
}

// Same reports whether place and words both say that the two are one.
func (p Pair) Same() bool { return p.Place && p.Words && !p.KnownWrong }

// Open reports whether place and words contradict each other.
func (p Pair) Open() bool { return p.Place != p.Words && !p.KnownWrong }

// Pairs are all pairs of each review of a case, in the order of the expected findings and then of the findings.
func Pairs(c cases.Case, reviews []results.Review) [][]Pair {
	var out [][]Pair
	for _, m := range matchers(c, reviews) {
		wrong := map[string]bool{}
		for _, f := range m.grade(true, true).Findings {
			wrong[f.Key] = f.Fate == FateKnownWrong
		}
		var pairs []Pair
		for i, e := range c.Golden {
			for k, f := range m.issues {
				pairs = append(pairs, Pair{
					Golden: e, Finding: f, Place: m.gate[i][k], Words: m.alike[i][k] >= identity.Threshold, Alike: m.alike[i][k], KnownWrong: wrong[f.Key],
				})
			}
		}
		out = append(out, pairs)
	}
	return out
}

// Settle makes a verdict of the pairs of one review that are the same: of several findings that are one expected finding the one whose words
// are most alike counts, and the others repeat it.
func Settle(same []Pair) results.Verdict {
	v := results.Verdict{Same: []results.Same{}}
	same = slices.Clone(same)
	slices.SortStableFunc(same, func(a, b Pair) int {
		switch {
		case a.Alike > b.Alike:
			return -1
		case a.Alike < b.Alike:
			return 1
		}
		return 0
	})
	matched := map[string]bool{}
	for _, p := range same {
		if !slices.ContainsFunc(v.Same, func(s results.Same) bool { return s.Golden == p.Golden.ID }) {
			v.Same = append(v.Same, results.Same{Golden: p.Golden.ID, Finding: p.Finding.Key, Confidence: 1})
			matched[p.Finding.Key] = true
		}
	}
	for _, p := range same {
		if k := p.Finding.Key; !matched[k] && !slices.Contains(v.Repeats, k) {
			v.Repeats = append(v.Repeats, k)
		}
	}
	slices.Sort(v.Repeats)
	return v
}
