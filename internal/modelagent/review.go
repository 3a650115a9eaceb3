package modelagent

import (
	"context"
	"fmt"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// reviewerShape is the schema reviewers answer in, laterShape that of those who are shown findings of earlier rounds.
const (
	reviewerShape = "reviewer-result"
	laterShape    = "later-review"
)

// shapeOf is the schema a reviewer answers its task in.
func shapeOf(task review.Task) string {
	if len(task.Earlier) > 0 {
		return laterShape
	}
	return reviewerShape
}

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
	part := prompts.Part{Agent: task.Agent, Lens: o.Lens, Findings: limits.Findings, Threshold: o.Threshold, Elevation: o.Elevation, Extra: task.Prompt, Earlier: len(task.Earlier)}
	m := connect(o, limits, emit)
	// What all reviewers of a round share comes first, byte for byte, for the provider's prompt cache.
	shared := []api.ChatCompletionMessage{said(api.ChatMessageRoleSystem, prompts.System()), said(api.ChatMessageRoleUser, brief)}
	question, cut, blocks, err := draft(ctx, m, o, limits, box, task, part, shared)
	if err != nil {
		return review.ReviewerResult{}, m.handOn(err)
	}
	got, notes, err := ask(ctx, m, o.Model, shapeOf(task), o.Fence, task.Repair, question, held(blocks))
	if err != nil {
		return review.ReviewerResult{}, m.handOn(err)
	}
	s := settler{
		task: task, now: o.now().UTC(), notes: notes,
	}
	if cut != "" { // what the report must not leave out: that something was not done
		s.note("The review was not finished: %s.", cut)
		emit(review.Event{Kind: review.EventLog, Level: "warn", Message: fmt.Sprintf("The review was not finished: %s.", cut)})
	}
	got.Findings = append(got.Findings, wishes(box, got.Findings)...)
	if why := answer.Beside(m.beside, got.Findings); why != "" {
		got.Findings = answer.Doubt(got.Findings, why)
	}
	all := got.Findings
	for _, text := range m.before() {
		var more []string
		all, more = answer.Corrected(text, all)
		s.notes = append(s.notes, more...)
	}
	s.aside = slices.Clone(all[len(got.Findings):])
	s.take(got)
	result := s.result()
	own(result.Findings, back)
	return result, nil
}

// draft makes the question for the answer: after four passes in one conversation when the budget has a call for each and
// one more and the endpoint takes tools, else at once. A repair turn of the parent has had its passes. blocks is what the last pass said.
func draft(ctx context.Context, m *model, o Options, limits review.Limits, box Toolbox, task review.Task, part prompts.Part,
	shared []api.ChatCompletionMessage,
) (question []api.ChatCompletionMessage, cut string, blocks bool, err error) {
	if limits.LLMCalls >= passCalls && box != nil && task.Repair == nil {
		part.Passes, part.ToolCalls = prompts.Passes, limits.ToolCalls
		tail, err := prompts.Tail(part)
		if err != nil {
			return nil, "", false, err
		}
		s := session{m: m, name: o.Model, fence: o.Fence, box: box, messages: append(slices.Clone(shared), said(api.ChatMessageRoleUser, tail))}
		able, err := s.passes(ctx)
		if err != nil {
			return nil, "", false, err
		}
		if able {
			question, err = s.question()
			return question, s.cut, s.blocks, err
		}
		part.Passes = 0
	}
	tail, err := prompts.Tail(part)
	if err != nil {
		return nil, "", false, err
	}
	return append(slices.Clone(shared), said(api.ChatMessageRoleUser, tail)), "", false, nil
}

func describe(f review.Finding) string {
	if f.Line == nil {
		return fmt.Sprintf("%s in %s", clip(f.Title), clip(f.File))
	}
	return fmt.Sprintf("%s in %s:%d", clip(f.Title), clip(f.File), *f.Line)
}
