package openai

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
)

// settler brings a model's findings in line with what a builtin reviewer owes: evidence, one severity table, a bounded number.
// What it changes it says in the report.
type settler struct {
	task      review.Task
	threshold int
	limit     int
	now       time.Time

	findings []review.Finding
	// aside are findings that no look of a model settles: what could not be read, and what a corrected answer left out.
	aside []review.Finding
	// low are findings below the threshold. They are not looked at again: whether they come to something is not for the model's
	// side to say (package score).
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
		s.keep(f)
	}
}

// keep settles a finding and puts it where it belongs.
func (s *settler) keep(f review.Finding) {
	f, ok := s.one(f)
	switch {
	case !ok:
	case s.below(f):
		s.low = append(s.low, f)
	default:
		s.findings = append(s.findings, f)
	}
}

// below reports whether a finding is too small for a second look.
func (s *settler) below(f review.Finding) bool {
	return f.Score > 0 && f.Score < s.threshold && !f.Priority.Severe()
}

// one settles a finding; ok is false when it must not be reported.
func (s *settler) one(f review.Finding) (review.Finding, bool) {
	f.Unconfirmed, f.OriginalScore = "", 0 // for prloop to say, not for the model
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

// lookAgain takes a second look at findings. It may only lose what it was asked about and names: what is severe in it and was not
// asked about, or cannot be read, is set aside.
func (s *settler) lookAgain(asked []review.Finding, r reply, model string) error {
	doc, beside := apart(r.text)
	second, _, err := wire.DecodeReviewer([]byte(doc))
	if r.fault != "" {
		err = errors.New(r.fault)
	}
	more := second.Findings
	if why := wire.Beside([]byte(beside), more); why != "" {
		more = wire.Doubt(more, why)
	}
	if err != nil {
		more, _ = wire.SalvageReviewer([]byte(r.text))
	}
	for _, f := range more {
		known := slices.ContainsFunc(asked, func(a review.Finding) bool { return a.ID == f.ID && (err == nil || a.Priority.Severe()) })
		if f.Priority.Severe() && !known {
			if !wire.Unreadable(f) {
				f, _ = s.one(f) // no severe finding is refused
				f.Unconfirmed = "was raised by " + clip(model) + " in a second look at something else"
			}
			f.ID = fmt.Sprintf("second-look-%d", len(s.aside)+1)
			s.aside = append(s.aside, f)
		}
	}
	if err == nil {
		s.weigh(asked, second.Findings, model)
	}
	return err
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
			switch {
			case ok && s.below(again):
				s.low = append(s.low, again)
			case ok:
				kept = append(kept, again)
			}
		}
	}
	s.findings = kept
}

// result is the answer: most urgent first, no more than allowed, counts and conclusion of what is left.
func (s *settler) result() review.ReviewerResult {
	s.findings = append(s.findings, s.low...)
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
