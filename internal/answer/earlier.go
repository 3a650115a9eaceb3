package answer

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
)

// settleEarlier keeps of a reviewer's verdicts on earlier findings those on findings it was shown, one for each id: of several the least
// favourable.
func settleEarlier(shown []review.Finding, r *review.ReviewerResult) (notes []string) {
	var kept []review.EarlierVerdict
	for _, v := range r.Earlier {
		if !slices.ContainsFunc(shown, func(f review.Finding) bool { return f.ID == v.FindingID }) {
			notes = append(notes, fmt.Sprintf("earlier: %.60q is no finding it was shown", v.FindingID))
			continue
		}
		if i := slices.IndexFunc(kept, func(o review.EarlierVerdict) bool { return o.FindingID == v.FindingID }); i < 0 {
			kept = append(kept, v)
		} else if worse(v.Verdict, kept[i].Verdict) {
			kept[i] = v
		}
	}
	r.Earlier = kept
	return notes
}

// worse reports whether a says less good of a finding than b.
func worse(a, b string) bool {
	order := []string{review.EarlierFixed, review.EarlierUnsure, review.EarlierRemains}
	return slices.Index(order, a) > slices.Index(order, b)
}
