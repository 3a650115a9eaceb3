// Package score holds the rules on the scores of findings (spec.md D3.1). They are prloop's, not a reviewer's: the same for every
// kind of reviewer, and applied once, to what reviewers answered. It is pure.
package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	// Void reports whether a finding's evidence is false: it is set aside alone. nil is none.
	Void func(review.Finding) bool
	// Category gives the one spelling of a category.
	Category func(string) string
}

// Silent reports whether a finding is counted and not listed. One without a score never is.
func (r Rules) Silent(f review.Finding) bool { return f.Score > 0 && f.Score < r.Threshold }

// Apply scores the findings of one reviewer: it raises those about security where the repository is sensitive, and then joins
// those that are many of one category below the threshold. A raised finding holds its reviewer's own score too, so that no
// score is raised twice. No rule makes a finding less urgent, and none drops one. The notes are for the receipt.
func (r Rules) Apply(findings []review.Finding) (all []review.Finding, notes []string) {
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
	all, more := r.elevate(all)
	return all, append(notes, more...)
}

// raise applies the rule on sensitive repositories. A reviewer that says it has raised a score itself is taken at its own score:
// what is raised already is not raised again.
func (r Rules) raise(f *review.Finding) {
	own := f.Score
	if 0 < f.OriginalScore && f.OriginalScore < own {
		own = f.OriginalScore
	}
	f.OriginalScore = 0
	if !r.Sensitive || own <= 0 || own >= highest || r.Category(f.Category) != review.CategorySecurity {
		return
	}
	f.OriginalScore, f.Score = own, max(f.Score, min(highest, own+promotion))
	f.Priority = graver(f.Priority, review.PriorityOfScore(f.Score))
}

// graver is the more urgent of two priorities. What is no priority at all is the most urgent.
func graver(a, b review.Priority) review.Priority {
	if !a.Valid() || a.Rank() <= b.Rank() {
		return a
	}
	return b
}

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

// joinedPrefix begins the ids of findings that are made of several.
const joinedPrefix = "ELEVATED-"

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

// lineLimit is how much of a reviewer's words stands in one line of ours, in characters.
const lineLimit = 300

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > lineLimit {
		return string(r[:lineLimit]) + "…"
	}
	return s
}
