package modelagent

import (
	"context"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const finderShape = "finder-result"

// Find asks a model what outside the change a reviewer should see: one call, and one more where its answer is not valid. Errors are those
// of Review.
func Find(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.FinderResult, error) {
	var none review.FinderResult
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
	question, err := prompts.Find(task, o.Fence)
	if err != nil {
		return none, err
	}
	m := connect(o, limits, emit)
	got, notes, err := ask(ctx, m, o.Model, finderShape, o.Fence, task.Repair, []api.ChatCompletionMessage{
		said(api.ChatMessageRoleSystem, prompts.FindSystem()), said(api.ChatMessageRoleUser, brief), said(api.ChatMessageRoleUser, question),
	}, answer.DecodeFinder)
	if err != nil {
		return none, err
	}
	for _, n := range notes {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Message: n})
	}
	for i := range got.Wanted {
		if name, ok := back[got.Wanted[i].File]; ok {
			got.Wanted[i].File = name
		}
	}
	return got, nil
}
