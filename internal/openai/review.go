package openai

import (
	"context"
	"fmt"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// reviewerShape is the schema reviewers answer in.
const reviewerShape = "reviewer-result"

// unsure is the confidence below which a critical or high finding is re-examined (spec.md R4).
const unsure = 0.6

// Review asks a model to review the task's brief. Progress and usage go to emit. Errors: *InvalidError when no valid
// answer could be had, ErrBudget, ErrWallTime and ErrRefused, or what the endpoint said.
func Review(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.ReviewerResult, error) {
	o, err := o.complete(task)
	if err != nil {
		return review.ReviewerResult{}, err
	}
	task, back := visibleNames(task)
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	brief, err := prompts.Brief(task, o.Fence)
	if err != nil {
		return review.ReviewerResult{}, err
	}
	box, err := o.open(task)
	if err != nil {
		return review.ReviewerResult{}, err
	}
	if box != nil {
		defer func() { _ = box.Close() }()
	}
	part := prompts.Part{Agent: task.Agent, Lens: o.Lens, Findings: limits.Findings, Threshold: o.Threshold, Elevation: o.Elevation, Extra: task.Prompt}
	m := connect(o, limits, emit)
	// What all reviewers of a round share comes first, byte for byte, for the provider's prompt cache.
	shared := []api.ChatCompletionMessage{said(api.ChatMessageRoleSystem, prompts.System()), said(api.ChatMessageRoleUser, brief)}
	question, cut, err := draft(ctx, m, o, limits, box, task, part, shared)
	if err != nil {
		return review.ReviewerResult{}, err
	}
	got, notes, err := ask(ctx, m, o.Model, reviewerShape, o.Fence, task.Repair, question, wire.DecodeReviewer)
	if err != nil {
		return review.ReviewerResult{}, err
	}
	s := settler{
		task: task, threshold: o.Threshold, limit: limits.Findings, now: o.now().UTC(), notes: notes,
	}
	// warn says what the report must not leave out: that something was not done.
	warn := func(format string, args ...any) {
		s.note(format, args...)
		emit(review.Event{Kind: review.EventLog, Level: "warn", Message: fmt.Sprintf(format, args...)})
	}
	if cut != "" {
		warn("The review was not finished: %s.", cut)
	}
	if why := wire.Beside(m.beside, got.Findings); why != "" {
		got.Findings = wire.Doubt(got.Findings, why)
	}
	all, more := wire.Corrected(m.refused, got.Findings)
	s.aside, s.notes = slices.Clone(all[len(got.Findings):]), append(s.notes, more...)
	s.take(got)
	if err := s.verify(ctx, m, o, limits, box, shared); err != nil {
		warn("Verification gave no answer (%s); the findings stay as they were.", clip(err.Error()))
	}
	if err := escalate(ctx, m, o, limits, shared, &s); err != nil {
		warn("The escalation model gave no answer (%s); its findings stay as they were.", clip(err.Error()))
	}
	result := s.result()
	own(result.Findings, back)
	return result, nil
}

// draft makes the question for the answer: after four passes in one conversation when the budget has a call for each and
// one more and the endpoint takes tools, else at once. A repair turn of the parent has had its passes.
func draft(ctx context.Context, m *model, o Options, limits review.Limits, box Toolbox, task review.Task, part prompts.Part,
	shared []api.ChatCompletionMessage,
) (question []api.ChatCompletionMessage, cut string, err error) {
	if limits.LLMCalls >= passCalls && box != nil && task.Repair == nil {
		part.Passes = prompts.Passes
		tail, err := prompts.Tail(part)
		if err != nil {
			return nil, "", err
		}
		s := session{m: m, name: o.Model, fence: o.Fence, box: box, messages: append(slices.Clone(shared), said(api.ChatMessageRoleUser, tail))}
		able, err := s.passes(ctx)
		if err != nil {
			return nil, "", err
		}
		if able {
			question, err = s.question()
			return question, s.cut, err
		}
		part.Passes = 0
	}
	tail, err := prompts.Tail(part)
	if err != nil {
		return nil, "", err
	}
	return append(slices.Clone(shared), said(api.ChatMessageRoleUser, tail)), "", nil
}

// escalate has doubtful findings of high severity re-examined by the stronger model, if budget is left.
func escalate(ctx context.Context, m *model, o Options, limits review.Limits, shared []api.ChatCompletionMessage, s *settler) error {
	doubtful := s.doubtful(limits.Candidates)
	switch {
	case len(doubtful) == 0 || o.Escalation == "":
		return nil
	case m.left <= 0:
		s.note("%d severe findings with low confidence were not re-examined: no LLM call was left.", len(doubtful))
		return nil
	}
	part, err := prompts.Escalate(s.task.Agent, o.Fence, doubtful)
	if err != nil {
		return err
	}
	m.anew()
	m.tools = nil // it may take none, and has no cache to hit
	r, err := m.say(ctx, o.Escalation, reviewerShape, append(slices.Clone(shared), said(api.ChatMessageRoleUser, part)))
	if err != nil {
		return err
	}
	return s.lookAgain(doubtful, r, o.Escalation)
}

// conclude is a reviewer's own claim by the rules of spec.md A6.
func conclude(c review.Counts) review.Conclusion {
	switch {
	case c.P0 > 0:
		return review.NeedsMajorWork
	case c.P1 > 0 || c.P2 > 0:
		return review.RequestChanges
	}
	return review.Approve
}

func describe(f review.Finding) string {
	if f.Line == nil {
		return fmt.Sprintf("%s in %s", clip(f.Title), clip(f.File))
	}
	return fmt.Sprintf("%s in %s:%d", clip(f.Title), clip(f.File), *f.Line)
}
