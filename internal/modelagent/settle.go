package modelagent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
)

// settler brings a model's findings in line with what a builtin reviewer owes: evidence and one severity table.
// What it changes it says in the report.
type settler struct {
	task review.Task
	now  time.Time

	findings []review.Finding
	// aside are what could not be read, and what a corrected answer left out.
	aside []review.Finding
	// earlier are its verdicts on findings of earlier rounds.
	earlier []review.EarlierVerdict
	report  string
	notes   []string
}

func (s *settler) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *settler) take(r review.ReviewerResult) {
	s.report, s.earlier = strings.TrimSpace(r.FullReport), r.Earlier
	for _, f := range r.Findings {
		if answer.Unreadable(f) {
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

// result is the answer: most urgent first, no more than an answer may hold, counts and conclusion of what is left. How many are listed is for who asked, who raises and joins them.
func (s *settler) result() review.ReviewerResult {
	score := func(f review.Finding) int { return -f.Score }
	slices.SortStableFunc(s.findings, func(a, b review.Finding) int {
		return cmp.Or(cmp.Compare(a.Priority.Rank(), b.Priority.Rank()), cmp.Compare(score(a), score(b)))
	})
	listed := s.findings[:min(len(s.findings), max(schema.MaxFindings-len(s.aside), 0))]
	over := len(s.findings) - len(listed)
	s.findings = append(listed, s.aside...)
	r := review.ReviewerResult{
		Agent: s.task.Agent, PRNumber: s.task.PRNumber, Issues: review.Count(s.findings), Findings: s.findings, Omitted: over, Earlier: s.earlier, FullReport: withNotes(s.report, s.notes),
	}
	r.Conclusion = r.Issues.Conclusion()
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
