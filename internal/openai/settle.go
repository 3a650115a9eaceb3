package openai

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
)

// settler brings a model's findings in line with the rules a builtin reviewer owes: evidence, threshold, one severity
// table, a bounded number. What it changes it says in the report.
type settler struct {
	task      review.Task
	threshold int
	limit     int
	// elevation is how many findings of one category below the threshold add up to one above it; 0 is never.
	elevation int
	// sensitive is true when the repository handles personal or financial data (spec.md D3.1).
	sensitive bool
	now       time.Time

	findings []review.Finding
	// aside are findings that no look of a model settles: what could not be read, and what a corrected answer left out.
	aside []review.Finding
	// low are findings below the threshold, kept until it is known whether they add up.
	low    []review.Finding
	report string
	notes  []string
}

func (s *settler) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *settler) take(r review.ReviewerResult) {
	s.report = strings.TrimSpace(r.FullReport)
	for _, f := range r.Findings {
		if wire.Unreadable(f) {
			s.aside = append(s.aside, f)
			continue
		}
		if f, ok := s.one(f); ok {
			s.findings = append(s.findings, f)
		}
	}
}

// one settles a finding; ok is false when it must not be reported.
func (s *settler) one(f review.Finding) (review.Finding, bool) {
	f.Unconfirmed = "" // for prloop to say, not for the model
	// The score is the finer and better explained scale, so it decides when the two disagree; but it takes back no P0 or P1.
	if f.Score > 0 {
		switch p := review.PriorityOfScore(f.Score); {
		case p == f.Priority:
		case f.Priority.Severe() && p.Rank() > f.Priority.Rank():
			s.note("%s was called %s with score %d; the graver of the two counts.", describe(f), f.Priority, f.Score)
			f.Score = f.Priority.Level().MinScore
		default:
			s.note("%s was called %s with score %d; the score makes it %s.", describe(f), f.Priority, f.Score, p)
			f.Priority = p
		}
	}
	if strings.TrimSpace(f.Evidence) == "" && !f.Priority.Severe() {
		s.note("Dropped for want of evidence: %s.", describe(f))
		return f, false
	}
	if s.sensitive && f.Category == review.CategorySecurity && f.Score > 0 && f.Score < 10 {
		f.Score = min(10, f.Score+promotion)
		f.Priority = review.PriorityOfScore(f.Score)
	}
	if f.Score > 0 && f.Score < s.threshold && !f.Priority.Severe() {
		s.note("Below the threshold of %d: %s.", s.threshold, describe(f))
		s.low = append(s.low, f)
		return f, false
	}
	f.Source = review.Source{Type: "agent", Name: s.task.Agent, Timestamp: s.now}
	if f.Language == "" {
		for _, b := range s.task.Brief.Files {
			if b.Path == f.File {
				f.Language = b.Language
			}
		}
	}
	return f, true
}

// promotion is what security findings gain where personal or financial data is handled (spec.md D3.1).
const promotion = 2

// elevate joins findings below the threshold that are many of one category into one (spec.md D3.1, score
// elevation). It scores two more than the highest of them, and is silent like any other when that is too low.
func (s *settler) elevate() {
	if s.elevation <= 0 {
		return
	}
	kinds := map[string][]review.Finding{}
	for _, f := range s.low {
		kinds[f.Category] = append(kinds[f.Category], f)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all := kinds[kind]
		if len(all) < s.elevation {
			continue
		}
		slices.SortStableFunc(all, func(a, b review.Finding) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.File, b.File))
		})
		one := all[0]
		one.Score = min(10, one.Score+promotion)
		if one.Score < s.threshold {
			continue
		}
		one.ID, one.Priority = "ELEVATED-"+strings.ToUpper(kind), review.PriorityOfScore(one.Score)
		one.Title = fmt.Sprintf("%d small findings of one kind (%s) add up", len(all), kind)
		var b strings.Builder
		b.WriteString("Each is below the threshold; together they are a pattern:\n")
		for _, f := range all {
			if f.Confidence != nil && (one.Confidence == nil || *f.Confidence < *one.Confidence) {
				one.Confidence = f.Confidence
			}
			fmt.Fprintf(&b, "\n- %s", describe(f))
		}
		one.Description = b.String()
		s.note("%d findings of category %s below the threshold were joined into one.", len(all), clip(kind))
		s.findings = append(s.findings, one)
	}
}

// doubtful are the P0 and P1 findings with low confidence, most urgent first, at most n.
func (s *settler) doubtful(n int) []review.Finding {
	var out []review.Finding
	for _, f := range s.findings {
		if f.Priority.Severe() && f.Confidence != nil && *f.Confidence < unsure {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b review.Finding) int { return cmp.Compare(a.Priority.Rank(), b.Priority.Rank()) })
	return out[:min(n, len(out))]
}

// weigh replaces each doubtful finding by what the stronger model made of it. One it does not confirm is dropped, by
// name, or marked when it is severe; one it was not asked about is not taken.
func (s *settler) weigh(doubtful, second []review.Finding, model string) {
	confirmed := map[string]review.Finding{}
	for _, f := range second {
		if _, twice := confirmed[f.ID]; !twice {
			confirmed[f.ID] = f
		}
	}
	asked := map[string]bool{}
	for _, f := range doubtful {
		asked[f.ID] = true
	}
	var kept []review.Finding
	for _, f := range s.findings {
		again, ok := confirmed[f.ID]
		switch {
		case !asked[f.ID]:
			kept = append(kept, f)
		case !ok && f.Priority.Severe():
			f.Unconfirmed = "was not confirmed by " + clip(model)
			kept = append(kept, f)
		case !ok:
			s.note("%s did not confirm: %s.", clip(model), describe(f))
		default:
			again.File, again.Category = f.File, f.Category // it is still the same finding
			again, ok = s.one(again)
			if f.Priority.Severe() && (!ok || !again.Priority.Severe()) {
				again, ok = f, true
				again.Unconfirmed = "was called less than " + string(f.Priority) + " by " + clip(model)
			}
			if ok {
				kept = append(kept, again)
			}
		}
	}
	s.findings = kept
}

// result is the answer: most urgent first, no more than allowed, counts and conclusion of what is left.
func (s *settler) result() review.ReviewerResult {
	s.elevate()
	score := func(f review.Finding) int { return -f.Score }
	slices.SortStableFunc(s.findings, func(a, b review.Finding) int {
		return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(score(a), score(b)))
	})
	if over := len(s.findings) - s.limit; over > 0 {
		s.note("%d findings beyond the limit of %d are not listed.", over, s.limit)
		s.findings = s.findings[:s.limit]
	}
	s.findings = append(s.findings, s.aside...)
	r := review.ReviewerResult{
		Agent: s.task.Agent, PRNumber: s.task.PRNumber, Issues: review.Count(s.findings), Findings: s.findings, FullReport: withNotes(s.report, s.notes),
	}
	r.Conclusion = conclude(r.Issues)
	if r.Findings == nil {
		r.Findings = []review.Finding{}
	}
	return r
}

// withNotes appends what was changed to a report.
func withNotes(report string, notes []string) string {
	if len(notes) == 0 {
		return report
	}
	return strings.TrimSpace(report + "\n\nNotes:\n\n- " + strings.Join(notes, "\n- "))
}
