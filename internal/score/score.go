// Package score holds the rules on the scores of findings (spec.md D3.1). They are prloop's, not a reviewer's: the same for every
// kind of reviewer: what reviewers answered is raised once, and what of it counts is joined. It is pure.
package score

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
)

const (
	// promotion is what security findings gain where personal or financial data is handled, and what findings that add up gain.
	promotion = 2
	highest   = 10
)

// Rules are what a run's findings are scored by.
type Rules struct {
	// Threshold is the lowest score that is listed.
	Threshold int
	// Elevation is how many findings of one category below the threshold add up to one; 0 is never.
	Elevation int
	// Sensitive is true when the repository handles personal or financial data.
	Sensitive bool
	// Category gives the one spelling of a category.
	Category func(string) string
}

// Silent reports whether a finding is counted and not listed. One without a score never is.
func (r Rules) Silent(f review.Finding) bool { return f.Score > 0 && f.Score < r.Threshold }

// Raise raises the findings of one reviewer that are about security where the repository is sensitive. A raised finding holds its reviewer's own score too, so that
// no score is raised twice. No rule makes a finding less urgent, and none drops one. The notes are for the receipt.
func (r Rules) Raise(findings []review.Finding) (all []review.Finding, notes []string) {
	all = slices.Clone(findings)
	raised := 0
	for i := range all {
		r.raise(&all[i])
		if all[i].OriginalScore > 0 {
			raised++
		}
	}
	if raised > 0 {
		notes = append(notes, fmt.Sprintf("%d scores of security findings were raised: the repository handles personal or financial data", raised))
	}
	return all, notes
}

// lineLimit is how much of a reviewer's words stands in one line of ours, in characters.
const lineLimit = 300
