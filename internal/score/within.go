package score

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/review"
)

// Within keeps the most urgent findings of one reviewer, no more than most, and gives those that it leaves out. Those that Join would join are kept, as they are one, and so are those
// that nobody confirmed, which are prloop's. It is asked once scores are raised: urgency is then what counts (threats.md T881).
func (r Rules) Within(findings []review.Finding, most int) (kept, over []review.Finding) {
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b review.Finding) int {
		return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(b.Score, a.Score))
	})
	_, parts := r.Join(findings)
	n := 0
	for i, f := range findings {
		if parts[i] || f.Unconfirmed != "" {
			kept = append(kept, f)
		} else if n++; n <= most {
			kept = append(kept, f)
		} else {
			over = append(over, f)
		}
	}
	return kept, over
}
