package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// elevate joins findings below the threshold that are many of one category into one. It scores two more than the highest of them;
// where that is below the threshold too, they stay as they are.
func (r Rules) elevate(findings []review.Finding) (all []review.Finding, notes []string) {
	if r.Elevation <= 0 {
		return findings, nil
	}
	kinds := map[string][]review.Finding{}
	for _, f := range findings {
		if r.low(f) {
			kind := r.Category(f.Category)
			kinds[kind] = append(kinds[kind], f)
		}
	}
	joined := map[string]bool{}
	var elevated []review.Finding
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		one, ok := r.join(kind, kinds[kind])
		if !ok {
			continue
		}
		joined[kind] = true
		elevated = append(elevated, one)
		notes = append(notes, fmt.Sprintf("%d findings of category %s below the threshold of %d were joined into one", len(kinds[kind]), oneLine(kind), r.Threshold))
	}
	for _, f := range findings {
		if !r.low(f) || !joined[r.Category(f.Category)] {
			all = append(all, f)
		}
	}
	return append(all, elevated...), notes
}

// low reports whether a finding may be joined: a severe one stands for itself, and so does one that is set aside.
func (r Rules) low(f review.Finding) bool {
	return r.Silent(f) && !f.Priority.Severe() && f.Unconfirmed == "" && (r.Void == nil || !r.Void(f))
}

// Joined reports whether a finding is made of several.
func Joined(f review.Finding) bool { return strings.HasPrefix(f.ID, joinedPrefix) }

func (r Rules) join(kind string, all []review.Finding) (one review.Finding, ok bool) {
	if len(all) < r.Elevation {
		return one, false
	}
	slices.SortStableFunc(all, func(a, b review.Finding) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.File, b.File))
	})
	one = all[0]
	one.Score = min(highest, one.Score+promotion)
	if one.Score < r.Threshold {
		return one, false
	}
	one.OriginalScore = cmp.Or(all[0].OriginalScore, all[0].Score)
	one.ID, one.Priority = joinedPrefix+strings.ToUpper(kind), review.PriorityOfScore(one.Score)
	one.Title = fmt.Sprintf("%d small findings of one kind (%s) add up", len(all), oneLine(kind))
	var b strings.Builder
	b.WriteString("Each is below the threshold; together they are a pattern:\n")
	for _, f := range all {
		if f.Confidence != nil && (one.Confidence == nil || *f.Confidence < *one.Confidence) {
			one.Confidence = f.Confidence
		}
		one.Priority = graver(f.Priority, one.Priority)
		fmt.Fprintf(&b, "\n- %s", describe(f))
	}
	one.Description = b.String()
	return one, true
}

func describe(f review.Finding) string {
	if f.Line == nil {
		return fmt.Sprintf("%s in %s", oneLine(f.Title), oneLine(f.File))
	}
	return fmt.Sprintf("%s in %s:%d", oneLine(f.Title), oneLine(f.File), *f.Line)
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > lineLimit {
		return string(r[:lineLimit]) + "…"
	}
	return s
}
