package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Ask puts one question to an agent: it starts the child, reads its answer, asks once more when the answer is invalid, and
// keeps what can be kept (package comment, "What becomes of it"). It never fails as a call: whatever happens to the
// child is in the answer's receipt. emit is called for each event of the child, one at a time; it may be nil.
func Ask(ctx context.Context, spec Spec, task review.Task, emit func(review.Event)) (got review.Answer) {
	answer := draft{&got}
	if emit == nil {
		emit = func(review.Event) {}
	}
	started := time.Now()
	task.Agent, task.Role = spec.Name, spec.Role
	answer.Receipt = newReceipt(spec, task)
	defer func() {
		// One agent's odd answer must not end the loop: a panic in a goroutine of the round ends the whole process.
		if p := recover(); p != nil {
			answer.Reviewer, answer.Comments, answer.Fix = nil, nil, nil
			answer.Receipt.State = review.AgentFailed
			answer.Receipt.Reason = visible(fmt.Sprintf("prloop failed on this answer: %v", p), 500)
		}
		answer.Receipt.Seconds = time.Since(started).Seconds()
	}()

	deadline := started.Add(spec.timeout(task))
	var tries []*attempt
	for {
		a := try(ctx, spec, task, time.Until(deadline), emit)
		tries = append(tries, a)
		addUsage(&answer.Receipt.Usage, a.events.usage)
		if !a.repairable() || len(tries) == maxAttempts || ctx.Err() != nil || time.Until(deadline) <= 0 {
			break
		}
		task.Repair = &review.Repair{Error: a.invalid.Error(), Answer: head(a.frame.text.head(maxQuoted))}
	}
	last := tries[len(tries)-1]
	answer.Receipt.Attempts = len(tries)
	answer.Log = log(last.result.StderrTail)
	if len(tries) > 1 {
		answer.note("first answer refused: " + visible(tries[0].invalid.Error(), 300))
	}
	answer.conclude(spec, task, tries)
	return got
}

// draft is an answer in the making.
type draft struct{ *review.Answer }

func newReceipt(spec Spec, task review.Task) review.AgentReceipt {
	r := review.AgentReceipt{Name: spec.Name, Role: spec.Role, Kind: spec.Kind, Model: spec.Model}
	for _, f := range task.Brief.Files {
		if f.Omitted == "" {
			r.FilesGiven++
		}
		r.HunksGiven += f.HunksGiven
	}
	return r
}

// conclude decides the state by the attempts.
func (a draft) conclude(spec Spec, task review.Task, tries []*attempt) {
	last := tries[len(tries)-1]
	a.note(last.notes...)
	if last.complete() {
		a.Receipt.State = review.AgentComplete
		a.correct(spec, task, tries, last.env)
		a.take(last.env)
		return
	}
	a.Receipt.State, a.Receipt.Reason = review.AgentFailed, last.why()
	if last.invalid == nil && (len(last.env.findings()) > 0 || blocks(last.env) || last.env.fix != nil) {
		a.Receipt.State = review.AgentDegraded
		a.Receipt.Reason = "valid answer, but the agent process failed: " + a.Receipt.Reason
		a.take(last.env)
		return
	}
	if spec.Role == review.RoleFixer {
		if e, notes := salvageFix(spec, task, tries); e.fix != nil && last.ended == nil {
			a.Receipt.State = review.AgentDegraded
			a.note(notes...)
			a.note(e.settleFix(task)...)
			a.take(e)
		}
		return
	}
	kept, notes := salvage(spec.Role, tries)
	a.note(notes...)
	if len(kept) == 0 {
		return
	}
	a.Receipt.State = review.AgentDegraded
	a.note(wire.Attribute(kept, spec.Role, spec.Name, task.Discussion)...)
	a.take(kepts(spec, task, kept))
}

// blocks reports whether a comments analyzer says that somebody asks for changes: that may only block, so it is kept.
func blocks(e envelope) bool { return e.comments != nil && e.comments.ReviewState.HasChangesRequested }

// correct adds what a corrected answer of a reviewer must not leave out.
func (a draft) correct(spec Spec, task review.Task, tries []*attempt, e envelope) {
	if e.reviewer == nil || len(tries) == 1 {
		return
	}
	all, notes := wire.Corrected(tries[0].frame.text.all(), e.reviewer.Findings)
	if len(all) == len(e.reviewer.Findings) {
		return
	}
	a.note(notes...)
	a.note(wire.Attribute(all, spec.Role, spec.Name, task.Discussion)...)
	e.reviewer.Findings, e.reviewer.Issues = all, review.Count(all)
}

// salvage keeps findings that are valid one by one, from the attempts that stayed invalid.
func salvage(role review.Role, tries []*attempt) (kept []review.Finding, notes []string) {
	keep := wire.SalvageReviewer
	if role == review.RoleCommentsAnalyzer {
		keep = wire.SalvageComments
	}
	var all [][]review.Finding
	for _, t := range tries {
		if t.invalid == nil {
			continue // it says what it says, and that is nothing
		}
		found, n := keep(t.frame.text.all())
		all, notes = append(all, found), append(notes, n...)
	}
	return wire.Salvaged(all...), notes
}

// kepts wraps salvaged findings in an envelope of prloop's own making, which never approves.
func kepts(spec Spec, task review.Task, kept []review.Finding) envelope {
	if spec.Role == review.RoleCommentsAnalyzer {
		return envelope{comments: wire.KeptComments(spec.Name, task.PRNumber, task.Discussion, kept)}
	}
	return envelope{reviewer: wire.KeptReviewer(spec.Name, task.PRNumber, kept)}
}

// salvageFix keeps a fixer's answer that names a finding twice, or as both fixed and rejected: what is clear in it counts,
// and the rest is not fixed (decision 5). The last attempt that can be read at all is taken.
func salvageFix(spec Spec, task review.Task, tries []*attempt) (envelope, []string) {
	for i := len(tries) - 1; i >= 0; i-- {
		doc, _, err := tries[i].frame.envelope()
		if err != nil {
			continue
		}
		if r, notes := wire.SalvageFix(doc); r != nil {
			return envelope{fix: r}, append(notes, identify(&r.Agent, &r.PRNumber, spec, task)...)
		}
	}
	return envelope{}, nil
}

func (a draft) take(e envelope) {
	a.Reviewer, a.Comments, a.Fix = e.reviewer, e.comments, e.fix
	a.Receipt.Findings = len(e.findings())
}

const maxNotes = 30

func (a draft) note(notes ...string) {
	for _, n := range notes {
		if len(a.Receipt.Notes) < maxNotes {
			a.Receipt.Notes = append(a.Receipt.Notes, visible(sanitize.Redact(n), 300))
		}
	}
}

// head is the beginning of a refused answer, fit to stand in JSON.
func head(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), maxQuoted)]), "\ufffd")
}

// log makes a child's standard error fit to be stored: secrets are taken out, control bytes become visible, line ends stay.
func log(tail []byte) string {
	var b strings.Builder
	for line := range strings.Lines(sanitize.Redact(string(tail))) {
		text := strings.TrimRight(line, "\r\n")
		b.WriteString(visible(text, len(text)))
		b.WriteByte('\n')
	}
	return b.String()
}
