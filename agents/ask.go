package agents

import (
	"context"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/review"
)

// Ask puts one question to an agent: it starts the child, reads its answer, asks once more when the answer is invalid, and
// keeps what can be kept (package comment, "What becomes of it"). It never fails as a call: whatever happens to the
// child is in the answer's receipt. emit is called for each event of the child, one at a time; it may be nil.
func Ask(ctx context.Context, spec Spec, task review.Task, emit func(review.Event)) review.Answer {
	if emit == nil {
		emit = func(review.Event) {}
	}
	task.Agent, task.Role = spec.Name, spec.Role
	return answer.Ask(spec.question(task), func() answer.Said {
		deadline := time.Now().Add(spec.timeout(task))
		var tries []*attempt
		for {
			a := try(ctx, spec, task, time.Until(deadline), emit)
			tries = append(tries, a)
			if !a.repairable() || len(tries) == maxAttempts || ctx.Err() != nil || time.Until(deadline) <= 0 {
				return said(spec, tries)
			}
			task.Repair = &review.Repair{Error: a.invalid.Error(), Answer: head(a.frame.text.head(maxQuoted))}
		}
	})
}

// question is what a child is asked.
func (s Spec) question(task review.Task) answer.Question {
	return answer.Question{Task: task, Kind: s.Kind, Model: s.Model}
}

// said is what the attempts came to.
func said(spec Spec, tries []*attempt) answer.Said {
	last := tries[len(tries)-1]
	s := answer.Said{Ended: last.ended == nil, Attempts: len(tries), Log: last.result.StderrTail}
	if len(tries) > 1 {
		s.Notes = append(s.Notes, "first answer refused: "+openly(tries[0].invalid))
	}
	s.Notes = append(s.Notes, last.notes...)
	for _, t := range tries {
		addUsage(&s.Usage, t.events.usage)
		switch {
		case t.invalid == nil: // it says what it says
		case spec.Role == review.RoleFixer:
			doc, _, _ := t.frame.envelope()
			s.Others = append(s.Others, doc)
		default:
			s.Others = append(s.Others, answer.Each(t.frame.text.take())...)
		}
	}
	if last.invalid == nil {
		s.Valid = &last.env
	}
	if !last.complete() {
		s.Why, s.Detail = last.kind(), last.why(spec.Kind)
	}
	return s
}

// head is the beginning of a refused answer, fit to stand in JSON.
func head(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), maxQuoted)]), "\ufffd")
}
