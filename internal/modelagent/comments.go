package modelagent

import (
	"context"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const commentsShape = "comments-result"

// AnalyzeComments asks a model to put the open conversations of task.Discussion in plain words. Review state, counts and
// which conversations are pending are computed by rule (package threads); the model rewords and may raise a priority by
// one step. Without anything pending no model is asked. Errors are those of Review.
func AnalyzeComments(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.CommentsResult, error) {
	o, err := o.complete(task)
	if err != nil {
		return review.CommentsResult{}, err
	}
	task, back := visibleNames(task)
	var talk review.Discussion
	if task.Discussion != nil {
		talk = *task.Discussion
	}
	found := threads.Analyze(talk, task.PRNumber)
	found.Agent = task.Agent
	if len(found.PendingIssues) == 0 {
		return found, nil
	}
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	question, err := prompts.Comments(found, o.Fence)
	if err != nil {
		return review.CommentsResult{}, err
	}
	m := connect(o, limits, emit)
	got, notes, err := ask(ctx, m, o.Model, commentsShape, o.Fence, task.Repair, []api.ChatCompletionMessage{
		said(api.ChatMessageRoleSystem, prompts.CommentsSystem()), said(api.ChatMessageRoleUser, question),
	}, answer.DecodeComments)
	if err != nil {
		return review.CommentsResult{}, err
	}
	if why := answer.Beside(m.beside, got.PendingIssues); why != "" {
		got.PendingIssues = answer.Doubt(got.PendingIssues, why)
	}
	for _, text := range m.before() {
		var more []string
		got.PendingIssues, more = answer.CorrectedComments(text, got.PendingIssues)
		notes = append(notes, more...)
	}
	own(found.PendingIssues, back)
	refined, refused := threads.Refine(found, slices.DeleteFunc(slices.Clone(got.PendingIssues), answer.Unreadable))
	for _, f := range got.PendingIssues {
		if answer.Unreadable(f) {
			refined.PendingIssues = append(refined.PendingIssues, f)
			refined.Issues = review.Count(refined.PendingIssues)
		}
	}
	report := refined.FullReport + "\n" + strings.TrimSpace(got.FullReport)
	refined.FullReport = withNotes(strings.TrimSpace(report), append(notes, refused...))
	return refined, nil
}
