// Package consensus turns one round of findings into a verdict: the rules of spec.md A6, pure and
// independent of the order agents answered in. No model takes part and no claim of a model is read.
package consensus

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// Decide gives the verdict on one round (spec.md A6). Changes requested by an owner, member or collaborator
// win over every count, P0s included (decision 4); then the most urgent priority decides. Findings are counted
// undeduplicated: the caller passes those of every reviewer and of the comments analyzer, without unverified ones.
//
// The verdict names every rule that matches, the deciding one first and the others ascending, each with its reason.
// Distinct is left at zero: which findings are the same one is not known here, and the caller fills it in.
// The verdict depends on the arguments alone, not on their order. A finding whose priority is none of the four counts as
// P0: decoding refuses such findings, and one that came another way must not open the gate.
func Decide(findings []review.Finding, state review.ReviewState) review.Verdict {
	counts := review.Count(findings)
	counts.P0 += len(findings) - counts.Total()
	v := review.Verdict{Issues: counts}
	for _, r := range rules {
		reason := r.reason(counts, state)
		if reason == "" {
			continue
		}
		if len(v.Rules) == 0 {
			v.Consensus = r.consensus
		}
		v.Rules = append(v.Rules, r.number)
		v.Reasons = append(v.Reasons, reason)
	}
	return v
}

// A rule is one line of spec.md A6. Rules stand in the order in which they decide, which is also ascending.
type rule struct {
	number    int
	consensus review.Conclusion
	// reason says in one sentence why the rule matches; empty when it does not.
	reason func(review.Counts, review.ReviewState) string
}

var rules = []rule{
	{0, review.RequestChanges, func(_ review.Counts, s review.ReviewState) string { return changesRequested(s) }},
	{1, review.NeedsMajorWork, func(c review.Counts, _ review.ReviewState) string { return found(c.P0, review.P0) }},
	{2, review.RequestChanges, func(c review.Counts, _ review.ReviewState) string { return found(c.P1, review.P1) }},
	{3, review.RequestChanges, func(c review.Counts, _ review.ReviewState) string { return found(c.P2, review.P2) }},
	{4, review.Approve, func(c review.Counts, _ review.ReviewState) string { return nothingFound(c) }},
}

func found(n int, p review.Priority) string {
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 finding is %s (%s).", p, p.Level().Label)
	}
	return fmt.Sprintf("%d findings are %s (%s).", n, p, p.Level().Label)
}

func nothingFound(c review.Counts) string {
	switch {
	case c.P0+c.P1+c.P2 > 0:
		return ""
	case c.P3 == 1:
		return "No finding is P0, P1 or P2; 1 is a suggestion (P3)."
	case c.P3 > 0:
		return fmt.Sprintf("No finding is P0, P1 or P2; %d are suggestions (P3).", c.P3)
	}
	return "No finding is P0, P1 or P2."
}

// list joins names as people write them: a, b and c.
func list(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
