// Package weight says which findings are worth a reader's and a fixer's time: one rule over what is known of a finding
// (decision 39). It is pure, and works in whole numbers, so that it says the same on every machine.
package weight

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/review"
)

// The points of a finding stand for the chance in thousandths that a maintainer has it fixed before the merge. Where the verifier
// gives that chance, it is the start; else it is what a reviewer's confidence is worth, where that is known; else prior, the part of all
// findings of recorded reviews that was right.
const (
	prior = 250
	// second is what a second reviewer adds: of those findings 36 in 100 were right.
	second   = 110
	verified = 60
	proven   = 200 // the verifier confirmed it with a fact that stands in the code
	severe   = 40
	perScore = 20 // for each step of the score above 6, and as much less below
	style    = -100
	old      = -200 // it was there before this change
	// cut is how many points are enough: a chance of 0.3 with verified evidence, a second reviewer, or a P0 or P1 with verified evidence.
	cut = 335
)

// Facts is what is known of one distinct finding.
type Facts struct {
	// Priority is that of its gravest wording. Security is true when one wording is about security.
	Priority review.Priority
	Security bool
	Style    bool
	// Certain is true of what a person wrote or a rule found.
	Certain bool
	// Voices is how many reviewers raised it. Alone is true when too few reviewers answered for anybody to agree.
	Voices int
	Alone  bool
	// Verified is true when code it quotes stands in the file.
	Verified bool
	// Score is from 1 to 10; 0 is that of the priority.
	Score int
	// Assessment is the verifier's, with a fact only if that stands; nil when there is none.
	Assessment *review.Assessment
	// Curve says what the verifier's probabilities are worth (decision 41); nil takes them as they are.
	Curve *calibration.Curve
	// Trusted is what the confidence of the reviewer that is surest is worth, in thousandths; nil where nobody knows that.
	Trusted *int
}

// Always reports whether no rule leaves the finding out: P0, security, what a rule found, and what people wrote. Less noise is
// not to mean less safety. A priority that is none of the four is as grave as P0.
func (f Facts) Always() bool {
	return f.Certain || f.Security || f.Priority == review.P0 || !f.Priority.Valid()
}

// Points weigh a finding.
func (f Facts) Points() int {
	n := prior
	if f.Trusted != nil {
		n = *f.Trusted
	}
	if a := f.Assessment; a != nil {
		if a.Probability != nil {
			n = f.Curve.Worth(*a.Probability)
		}
		if a.Status == review.Confirmed && a.Fact != nil {
			n += proven
		}
		if a.Introduced != nil && !*a.Introduced {
			n += old
		}
	}
	if f.Voices > 1 {
		n += second
	}
	if f.Verified {
		n += verified
	}
	if f.Priority.Severe() {
		n += severe
	}
	if f.Style {
		n += style
	}
	return n + perScore*(cmp.Or(f.Score, f.Priority.Level().MinScore)-6)
}

// Taken reports whether a finding is one a reader should see first. A duplicate of one that is seen is not.
func (f Facts) Taken() bool {
	a := f.Assessment
	switch {
	case f.Always():
		return true
	case a != nil && a.Status == review.Duplicate:
		return false
	case a == nil && f.Alone && f.Priority != review.P3: // nobody could agree, and nobody looked: what must be fixed is not hidden for that
		return true
	}
	return f.Points() >= cut
}

// Counts reports whether a finding counts for the verdict under the rule `verified`. One that the verifier said nothing of does: only
// what somebody looked at is left out.
func (f Facts) Counts() bool { return f.Assessment == nil || f.Taken() }

// Open says which of the findings a report shows openly: of those that are offered all that are P0, P1 or about security, and then
// those with the most points, until budget findings are open.
func Open(list []Facts, offered []bool, budget int) []bool {
	open := make([]bool, len(list))
	var rest []int
	for i, f := range list {
		switch {
		case !offered[i]:
		case f.Priority.Severe() || f.Security:
			open[i] = true
			budget--
		default:
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(rest, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a].Priority.Rank(), list[b].Priority.Rank()), cmp.Compare(list[b].Points(), list[a].Points()))
	})
	for _, i := range rest[:max(0, min(budget, len(rest)))] {
		open[i] = true
	}
	return open
}
