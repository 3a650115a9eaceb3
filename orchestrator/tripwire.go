package orchestrator

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// tripwire fails with sanitize.ErrKnownSecret when an answer repeats a credential this process holds, in any spelling the
// sanitizer knows. It looks at the answer as it came, before patterns take out what looks like a secret: that an agent
// saw what it must never see ends the run, with nothing kept and nothing posted (security T30, 7.4 layer 0).
func (l *Loop) tripwire(agent string, a Answer) error {
	texts := append([]string{a.Log, a.Receipt.Reason}, a.Receipt.Notes...)
	var findings []review.Finding
	if r := a.Reviewer; r != nil {
		texts, findings = append(texts, r.FullReport), r.Findings
	}
	if c := a.Comments; c != nil {
		texts, findings = append(texts, c.FullReport), c.PendingIssues
	}
	if f := a.Fix; f != nil {
		for _, text := range writtenFix(f) {
			texts = append(texts, *text)
		}
	}
	for i := range findings {
		for _, text := range written(&findings[i]) {
			texts = append(texts, *text)
		}
	}
	if sanitize.Leaks(strings.Join(texts, "\n\n"), sanitize.Policy{Known: l.Secrets}) {
		return fmt.Errorf("answer of %s: %w", agent, sanitize.ErrKnownSecret)
	}
	return nil
}

// heardLive passes on the news of an agent, without what the tripwire would not let through.
func (l *Loop) heardLive(e review.Event) {
	if sanitize.Leaks(e.Message, sanitize.Policy{Known: l.Secrets}) {
		e.Message = sanitize.Redacted
	}
	l.emit(e)
}

// written are the texts of a finding that its finder wrote.
func written(f *review.Finding) []*string {
	return []*string{&f.ID, &f.Category, &f.File, &f.Title, &f.Description, &f.Suggestion, &f.Evidence, &f.Unconfirmed, &f.Language}
}
