package acp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	api "github.com/coder/acp-go-sdk"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Ask puts one question to an agent: it starts the child, opens a session, puts the prompt, asks once more when the answer
// is invalid, and keeps what can be kept. It never fails as a call: whatever happens is in the answer's receipt. emit is
// called for each event, one at a time; it may be nil.
func Ask(ctx context.Context, spec Spec, task review.Task, prompt string, emit func(review.Event)) (got review.Answer) {
	answer := draft{&got}
	if emit == nil {
		emit = func(review.Event) {}
	}
	started := time.Now()
	answer.Receipt = newReceipt(spec, task)
	defer func() {
		// One agent's odd answer must not end the loop: a panic in a goroutine of the round ends the whole process.
		if p := recover(); p != nil {
			answer.Reviewer, answer.Comments, answer.Fix = nil, nil, nil
			answer.fail(fmt.Errorf("prloop failed on this answer: %v", p))
		}
		answer.Receipt.Seconds = time.Since(started).Seconds()
	}()
	if err := spec.plays(task); err != nil {
		answer.fail(err)
		return got
	}
	limit := spec.timeout(task)
	ctx, cancel := context.WithDeadlineCause(ctx, started.Add(limit), fmt.Errorf("stopped: out of time after %s", proc.Seconds(limit)))
	defer cancel()

	d, err := openDesk(ctx, spec.Dir, func(doc []byte) error { return accept(spec.Role, task, doc) })
	if err != nil {
		answer.fail(err)
		return got
	}
	defer d.close()
	place, err := writeAgentConfig(spec, server(spec, d))
	if err != nil {
		answer.fail(err)
		return got
	}
	s, err := launch(ctx, spec, place, d, emit)
	if err != nil {
		answer.fail(err)
		return got
	}
	out := s.converse(ctx, prompt)
	answer.conclude(s, task, out)
	return got
}

// draft is an answer in the making.
type draft struct{ *review.Answer }

// plays reports why the agent cannot play its role.
func (s Spec) plays(task review.Task) error {
	switch s.Role {
	case review.RoleReviewer, review.RoleCommentsAnalyzer:
		return nil
	case review.RoleFixer:
		switch {
		case task.Fix == nil:
			return errors.New("the task has nothing to fix")
		case s.Cwd == "":
			return errors.New("a fixer needs a tree to work in")
		case s.Preset.Name != "" && s.Preset.FixMode == "":
			return fmt.Errorf("%s only reviews: its preset has no way to let it write in one folder alone", s.Preset.Name)
		}
		return nil
	}
	return fmt.Errorf("an ACP agent cannot be a %s", s.Role)
}

// outcome is what the conversation came to.
type outcome struct {
	doc      []byte // the valid answer; nil when there is none
	fallback bool   // it stood in the text
	turns    int
	// refused is why the first turn had to be repeated; nil when it had not.
	refused error
	// invalid is why there is no answer; failed why the conversation did not end well.
	invalid, failed error
	text            []byte // of the last turn
	earlier         []byte // text of the turn that had to be repeated
}

// converse has the conversation and ends the process.
func (s *session) converse(ctx context.Context, prompt string) (out outcome) {
	// Writing to an agent that does not read is not bounded by the context, the pipe's end is.
	release := context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, func() { s.stdin.Close() }) })
	defer release()
	defer func() {
		s.close(ctx.Err() != nil || out.failed != nil)
		if out.failed != nil {
			out.failed = s.blame(ctx, out.failed)
		}
	}()
	if out.failed = s.open(ctx); out.failed != nil {
		return out
	}
	text := prompt + s.spec.closing()
	for {
		t := s.prompt(ctx, text)
		out.turns++
		out.text = t.text
		out.failed = t.err
		out.doc, out.fallback, out.invalid = s.answer(t)
		if out.invalid == nil || t.err != nil || out.turns == maxTurns || !repairable(t.stop) {
			return out
		}
		out.refused, out.earlier = out.invalid, t.text
		text = repair(out.invalid) + s.spec.closing()
	}
}

// closing says how to answer; it follows whatever the prompt says about the form.
func (s Spec) closing() string {
	if s.apart() {
		return "\n\nYour working folder is empty. Read the code under review with the other tools of the MCP server " + ServerName + "." + handIn
	}
	return handIn
}

const handIn = "\n\nHand in the result by calling the tool " + ToolName + " of the MCP server " + ServerName +
	" exactly once, with the whole result as its arguments. Only if you have no such tool, write the result as one JSON object at the end of your answer.\n"

func repair(why error) string {
	return "Your result was refused. The reason, quoted:\n\n" + visible(why.Error(), 2000) +
		"\n\nPut that right. Hand in the whole corrected result, not only what changed."
}

// repairable reports whether asking again can help: the agent ended its turn, what it said is not valid.
func repairable(stop api.StopReason) bool {
	return stop != api.StopReasonRefusal && stop != api.StopReasonCancelled
}

// answer is what a turn came to: the newest valid result that was submitted, or else the object in the text.
func (s *session) answer(t turn) (doc []byte, fallback bool, err error) {
	valid, refused, _, why := s.desk.standing()
	if valid != nil {
		return valid, false, nil
	}
	doc, err = lastObject(t.text, keyOf(s.spec.Role), s.desk.check)
	switch {
	case err == nil:
		return doc, true, nil
	case refused != nil:
		return nil, false, why
	case len(t.text) == 0:
		return nil, false, fmt.Errorf("no result was submitted, and the turn ended (%s) without text", orNone(string(t.stop)))
	}
	return nil, false, err
}

func orNone(s string) string {
	if s == "" {
		return "no stop reason"
	}
	return visible(s, 40)
}

// blame finds the first cause: what ended the process or the time says more than the connection that broke.
func (s *session) blame(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var exit *proc.ExitError
	switch {
	case errors.As(s.err, &exit) && errors.Is(exit.Cause, errAnswered):
		return err
	case s.err != nil:
		return errors.New(strings.TrimPrefix(s.err.Error(), "run "))
	}
	return err
}

func newReceipt(spec Spec, task review.Task) review.AgentReceipt {
	r := review.AgentReceipt{Name: spec.Name, Role: spec.Role, Kind: review.KindACP, Model: spec.Model}
	for _, f := range task.Brief.Files {
		if f.Omitted == "" {
			r.FilesGiven++
		}
		r.HunksGiven += f.HunksGiven
	}
	return r
}

func (a draft) fail(err error) {
	a.Receipt.State, a.Receipt.Reason = review.AgentFailed, visible(err.Error(), 1000)
}

// conclude decides the state.
func (a draft) conclude(s *session, task review.Task, out outcome) {
	a.Receipt.Attempts = out.turns
	a.measure(s)
	a.Log = sanitize.Terminal(sanitize.Redact(string(s.result.StderrTail)))
	_, refused, _, _ := s.desk.standing()
	if out.refused != nil {
		a.note("first answer refused: " + out.refused.Error())
	}
	if out.fallback {
		a.note("the result stood in the text, it was not submitted")
	}
	a.oddities(s)
	if out.doc != nil {
		e, notes, err := decode(s.spec.Role, out.doc)
		if err != nil { // it was valid a moment ago
			a.fail(err)
			return
		}
		a.note(notes...)
		if r := e.reviewer; r != nil {
			for _, doc := range append(s.desk.followed(), refused, out.earlier) {
				all, notes := wire.Corrected(doc, r.Findings)
				r.Findings, r.Issues = all, review.Count(all)
				a.note(notes...)
			}
			if why := wire.Beside(bytes.Replace(out.text, out.doc, nil, 1), r.Findings); why != "" {
				r.Findings = wire.Doubt(r.Findings, why)
				r.Issues = review.Count(r.Findings)
				a.note("a person has to look: " + why)
			}
		}
		a.note(e.settle(s.spec, task)...)
		a.take(s.spec, e, out.failed)
		return
	}
	why := out.failed
	if why == nil {
		why = fmt.Errorf("invalid answer: %w", out.invalid)
	}
	if tail := visible(string(s.result.StderrTail[max(0, len(s.result.StderrTail)-400):]), 300); tail != "" {
		why = fmt.Errorf("%w; stderr: %s", why, tail)
	}
	a.fail(why)
	if s.spec.Role == review.RoleFixer {
		a.takeFix(s, task, refused, out)
		return
	}
	kept, notes := salvage(s.spec.Role, out.earlier, out.text, refused)
	if len(kept) == 0 {
		return
	}
	a.note(notes...)
	a.note(wire.Attribute(kept, s.spec.Role, s.spec.Name, task.Discussion)...)
	a.Receipt.State = review.AgentDegraded
	a.set(wrap(s.spec, task, kept))
}

// takeFix keeps what is clear in a fixer's answer that stayed invalid, of an agent that ended well.
func (a draft) takeFix(s *session, task review.Task, refused []byte, out outcome) {
	if out.failed != nil {
		return
	}
	inText, _ := lastObject(out.text, keyOf(review.RoleFixer), func([]byte) error { return nil })
	r, notes := salvageFix(task, refused, inText)
	if r == nil {
		return
	}
	e := envelope{fix: r}
	a.note(notes...)
	a.note(e.settle(s.spec, task)...)
	a.Receipt.State = review.AgentDegraded
	a.set(e)
}

// take keeps a valid answer. Of an agent that did not end well only what may block is kept.
func (a draft) take(spec Spec, e envelope, failed error) {
	if failed == nil {
		a.Receipt.State = review.AgentComplete
		a.set(e)
		return
	}
	a.fail(failed)
	if !e.blocks() {
		return
	}
	a.Receipt.State = review.AgentDegraded
	a.Receipt.Reason = visible("valid answer, but the agent process failed: "+failed.Error(), 1000)
	if e.reviewer != nil && e.reviewer.Conclusion == review.Approve {
		e.reviewer.Conclusion = review.RequestChanges
	}
	a.set(e)
}

func (a draft) set(e envelope) {
	a.Reviewer, a.Comments, a.Fix = e.reviewer, e.comments, e.fix
	a.Receipt.Findings = len(e.findings())
}

// measure takes what the agent says it used; who counts at a gateway knows better and replaces it.
func (a draft) measure(s *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Receipt.Usage.ToolCalls = s.toolCalls
	if u := s.usage; u != nil {
		in, out := u.InputTokens, u.OutputTokens
		a.Receipt.Usage.InputTokens, a.Receipt.Usage.OutputTokens, a.Receipt.Usage.CachedTokens = &in, &out, u.CachedReadTokens
	}
}

// oddities notes what a reader of the report should know about the conversation.
func (a draft) oddities(s *session) {
	dropped, unknown, _ := s.gate.counts()
	_, rejected := s.peer.counts()
	_, _, calls, _ := s.desk.standing()
	for _, o := range []struct {
		n    int
		text string
	}{
		{dropped, "%d lines of output were no messages and were dropped"},
		{unknown, "%d updates of unknown kinds were ignored"},
		{rejected, "%d requests for permission were rejected"},
		{max(0, calls-1), "%d more results were submitted"},
		{s.result.Survivors, "left %d processes behind, which were ended"},
	} {
		if o.n > 0 {
			a.note(fmt.Sprintf(o.text, o.n))
		}
	}
	if s.clipped {
		a.note("its text was longer than prloop reads")
	}
	if s.result.Unclean {
		a.note("unclean: processes of this agent could not be ended")
	}
}

const maxNotes = 30

func (a draft) note(notes ...string) {
	for _, n := range notes {
		if len(a.Receipt.Notes) < maxNotes {
			a.Receipt.Notes = append(a.Receipt.Notes, visible(n, 300))
		}
	}
}
