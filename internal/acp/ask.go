package acp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	api "github.com/coder/acp-go-sdk"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Ask puts one question to an agent: it starts the child, opens a session, puts the prompt, asks once more when the answer
// is invalid, and keeps what can be kept. It never fails as a call: whatever happens is in the answer's receipt. emit is
// called for each event, one at a time; it may be nil.
func Ask(ctx context.Context, spec Spec, task review.Task, prompt string, emit func(review.Event)) review.Answer {
	if emit == nil {
		emit = func(review.Event) {}
	}
	task.Agent, task.Role = spec.Name, spec.Role
	q := answer.Question{Task: task, Kind: review.KindACP, Model: spec.Model}
	return answer.Ask(q, func() answer.Said {
		s, err := spec.talk(ctx, q, prompt, emit)
		if err != nil {
			s.Why, s.Detail = "it could not be started", err.Error()
		}
		return s
	})
}

// talk has the conversation. An error means that there was none.
func (s Spec) talk(ctx context.Context, q answer.Question, prompt string, emit func(review.Event)) (answer.Said, error) {
	if err := s.plays(q.Task); err != nil {
		return answer.Said{}, err
	}
	limit := s.timeout(q.Task)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeError(limit))
	defer cancel()
	d, err := openDesk(ctx, s.Dir, func(doc []byte) error {
		_, _, err := q.Read(doc, nil)
		return err
	})
	if err != nil {
		return answer.Said{}, err
	}
	defer d.close()
	place, err := writeAgentConfig(s, server(s, d))
	if err != nil {
		return answer.Said{}, err
	}
	session, err := launch(ctx, s, place, d, emit)
	if err != nil {
		return answer.Said{}, err
	}
	return session.said(q, session.converse(ctx, prompt)), nil
}

// timeError says that an agent was ended when its time, which it names, was over.
type timeError time.Duration

func (e timeError) Error() string {
	return "stopped: out of time after " + proc.Seconds(time.Duration(e))
}

// plays reports why the agent cannot play its role.
func (s Spec) plays(task review.Task) error {
	switch s.Role {
	case review.RoleReviewer, review.RoleCommentsAnalyzer, review.RoleVerifier, review.RoleCommand, review.RoleScout, review.RoleFinder:
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
	// held is an answer that claims more than it lists, and beside the text of its turn: for when none that does not follows.
	held, beside []byte
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
		var doc []byte
		doc, out.fallback, out.invalid = s.answer(t)
		switch claim := (*answer.ClaimError)(nil); {
		case out.invalid == nil:
			out.doc = doc
		case errors.As(out.invalid, &claim):
			out.held, out.beside = doc, t.text
		}
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
	return "Your result was refused. The reason, quoted:\n\n" + sanitize.Line(why.Error(), 2000) +
		"\n\nPut that right. Hand in the whole corrected result, not only what changed."
}

// repairable reports whether asking again can help: the agent ended its turn, what it said is not valid.
func repairable(stop api.StopReason) bool {
	return stop != api.StopReasonRefusal && stop != api.StopReasonCancelled
}

// answer is what a turn came to: the newest valid result that was submitted, or else the object in the text. A *answer.ClaimError comes
// with it.
func (s *session) answer(t turn) (doc []byte, fallback bool, err error) {
	valid, refused, _, why := s.desk.standing()
	if valid != nil {
		return valid, false, nil
	}
	doc, err = lastObject(t.text, s.spec.Role, s.desk.check)
	claim := (*answer.ClaimError)(nil)
	switch err = s.desk.again(err); {
	case err == nil, errors.As(err, &claim):
		return doc, true, err
	case refused != nil:
		return refused, false, why
	case len(t.text) == 0:
		return nil, false, fmt.Errorf("no result was submitted, and the turn ended (%s) without text", orNone(string(t.stop)))
	}
	return nil, false, err
}

func orNone(s string) string {
	if s == "" {
		return "no stop reason"
	}
	return sanitize.Line(s, 40)
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
		what := strings.TrimPrefix(s.err.Error(), "run ")
		if exit != nil && exit.Reason == proc.ReasonIdle {
			what += idleMost
		}
		return errors.New(what)
	}
	return err
}

// idleMost names the setting that bounds silence.
const idleMost = "; limits.max_idle_seconds allows no more"

// kind is what broke the conversation off, as everybody may read it: what the agent and its program say is the operator's (threats.md T681).
func (s *session) kind(failed error) string {
	var exit *proc.ExitError
	var late timeError
	switch {
	case errors.As(failed, &late):
		return late.Error()
	case !errors.As(s.err, &exit) || errors.Is(exit.Cause, errAnswered):
		return "the conversation with it broke off"
	case exit.Reason == proc.ReasonIdle:
		return exit.Kind() + idleMost
	}
	return exit.Kind()
}

// said is what the conversation came to.
func (s *session) said(q answer.Question, out outcome) answer.Said {
	a := answer.Said{Ended: out.failed == nil, Attempts: out.turns, Usage: s.measure(), Log: s.result.StderrTail, Others: append(s.desk.followed(), out.earlier)}
	if out.refused != nil {
		a.Notes = append(a.Notes, "first answer refused: "+out.refused.Error())
	}
	if out.fallback {
		a.Notes = append(a.Notes, "the result stood in the text, it was not submitted")
	}
	a.Notes = append(a.Notes, s.oddities()...)
	claim := (*answer.ClaimError)(nil)
	if out.doc == nil && out.held != nil { // nothing better came of asking again
		a.Others = append(a.Others, out.text)
		out.doc, out.text, out.invalid = out.held, out.beside, nil
	}
	if out.doc != nil {
		e, notes, err := q.Read(out.doc, bytes.Replace(out.text, out.doc, nil, 1))
		if err == nil || errors.As(err, &claim) {
			a.Valid, err = &e, nil
		}
		a.Notes, out.invalid = append(a.Notes, notes...), err
	} else {
		a.Others = append(a.Others, out.text)
		if q.Task.Role == review.RoleFixer {
			doc, _ := lastObject(out.text, q.Task.Role, func([]byte) error { return nil })
			a.Others = append(a.Others, doc)
		}
	}
	_, refused, _, _ := s.desk.standing()
	a.Others = append(a.Others, refused)
	switch {
	case out.failed != nil:
		a.Why, a.Detail = s.kind(out.failed), out.failed.Error()
	case out.invalid != nil:
		a.Why = "invalid answer"
		a.Detail = a.Why + ": " + out.invalid.Error()
	default:
		return a
	}
	if tail := sanitize.LastLine(string(s.result.StderrTail), 300); tail != "" {
		a.Detail += "; stderr: " + tail
	}
	return a
}

// measure is what the agent says it used; who counts at a gateway knows better and replaces it.
func (s *session) measure() (u review.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.ToolCalls = s.toolCalls
	if used := s.usage; used != nil {
		in, out := used.InputTokens, used.OutputTokens
		u.InputTokens, u.OutputTokens, u.CachedTokens = &in, &out, used.CachedReadTokens
	}
	return u
}

// oddities is what a reader of the report should know about the conversation.
func (s *session) oddities() (notes []string) {
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
			notes = append(notes, fmt.Sprintf(o.text, o.n))
		}
	}
	if s.clipped {
		notes = append(notes, "its text was longer than prloop reads")
	}
	if s.result.Unclean {
		notes = append(notes, "unclean: processes of this agent could not be ended")
	}
	return notes
}
