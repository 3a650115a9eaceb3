package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Join joins what one reviewer says below the threshold, where that is many of one category: joined are those that stand for several, parts what they are made of, by
// index. One scores two more than the highest of its parts; where that is below the threshold too, they stay as they are.
func (r Rules) Join(findings []review.Finding) (joined []review.Finding, parts map[int]bool) {
	parts = map[int]bool{}
	if r.Elevation <= 0 {
		return nil, parts
	}
	type kind struct{ by, category string }
	kinds := map[kind][]int{}
	for i, f := range findings {
		if r.low(f) {
			k := kind{f.Source.Name, r.Category(f.Category)}
			kinds[k] = append(kinds[k], i)
		}
	}
	order := func(a, b kind) int { return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.category, b.category)) }
	for _, k := range slices.SortedFunc(maps.Keys(kinds), order) {
		var all []review.Finding
		for _, i := range kinds[k] {
			all = append(all, findings[i])
		}
		if one, ok := r.join(k.category, all); ok {
			joined = append(joined, one)
			for _, i := range kinds[k] {
				parts[i] = true
			}
		}
	}
	return joined, parts
}

// low reports whether a finding may be joined: a severe one stands for itself, and so does what a person says.
func (r Rules) low(f review.Finding) bool {
	return r.Silent(f) && !f.Priority.Severe() && f.Source.Type == "agent"
}

func (r Rules) join(kind string, all []review.Finding) (one review.Finding, ok bool) {
	if len(all) < r.Elevation {
		return one, false
	}
	slices.SortStableFunc(all, func(a, b review.Finding) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.File, b.File))
	})
	first := all[0]
	one = review.Finding{
		ID: review.PrefixSeveral + strings.ToUpper(kind), Category: first.Category, Suggestion: "Look at each of them.", Source: first.Source, Confidence: first.Confidence,
		Score: min(highest, first.Score+promotion), OriginalScore: cmp.Or(first.OriginalScore, first.Score), File: first.File, Parts: all,
	}
	if one.Score < r.Threshold {
		return one, false
	}
	one.Priority = review.PriorityOfScore(one.Score)
	one.Title = fmt.Sprintf("%d small findings of one kind (%s) add up", len(all), oneLine(kind))
	var b strings.Builder
	b.WriteString("Each is below the threshold; together they are a pattern:\n")
	for _, f := range all {
		if f.File != one.File {
			one.File = ""
		}
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
