package modelagent

import (
	"context"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const scoutShape = "scout-result"

// Scan asks a model to look at the task's diff once: one call, and one more where its answer is not valid. Errors are those of Review.
func Scan(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.ScoutResult, error) {
	var none review.ScoutResult
	o, err := o.complete(task)
	if err != nil {
		return none, err
	}
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	task, back := visibleNames(task)
	brief, err := prompts.Brief(task, o.Fence)
	if err != nil {
		return none, err
	}
	question, err := prompts.Scan(task, o.Fence)
	if err != nil {
		return none, err
	}
	m := connect(o, limits, emit)
	got, notes, err := ask(ctx, m, o.Model, scoutShape, o.Fence, task.Repair, []api.ChatCompletionMessage{
		said(api.ChatMessageRoleSystem, prompts.ScanSystem()), said(api.ChatMessageRoleUser, brief), said(api.ChatMessageRoleUser, question),
	}, answer.DecodeScout)
	if err != nil {
		return none, err
	}
	notes = append(notes, answer.Suspect(&got, m.beside)...)
	notes = append(notes, answer.CorrectedScout(&got, m.before()...)...)
	for _, n := range notes {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Message: n})
	}
	for i := range got.Observations {
		if name, ok := back[got.Observations[i].File]; ok {
			got.Observations[i].File = name
		}
	}
	return got, nil
}
