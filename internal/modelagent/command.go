package modelagent

import (
	"context"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

const commandShape = "command-result"

// Command asks a model to do the task of a command, with the tools its command may use where there are any. Errors are those of Review.
func Command(ctx context.Context, task review.Task, o Options, emit func(review.Event)) (review.CommandResult, error) {
	var none review.CommandResult
	o, err := o.complete(task)
	if err != nil {
		return none, err
	}
	limits := limitsOf(task)
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	task, back := visibleNames(task)
	c := command{task: task, o: o, m: connect(o, limits, emit)}
	if c.box, err = o.open(task); err != nil {
		return none, err
	}
	if c.box != nil {
		defer func() { _ = c.box.Close() }()
	}
	got, notes, err := c.work(ctx)
	if err != nil {
		return none, c.m.handOn(err)
	}
	for i := range got.Findings {
		got.Findings[i].Unconfirmed = "" // for prloop to say, not for the model
	}
	if why := answer.Beside(c.m.beside, got.Findings); why != "" {
		got.Findings = answer.Doubt(got.Findings, why)
	}
	for _, text := range c.m.before() {
		var more []string
		got.Findings, more = answer.CorrectedCommand(text, got.Findings)
		notes = append(notes, more...)
	}
	for _, n := range notes {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Message: n})
	}
	own(got.Findings, back)
	return answer.CommandResult(got), nil
}

// command is the conversation about a command's task.
type command struct {
	task     review.Task
	o        Options
	m        *model
	box      Toolbox
	messages []api.ChatCompletionMessage
}

// work puts the task, lets the model look around, and gets the answer.
func (c *command) work(ctx context.Context) (got review.CommandAnswer, notes []string, err error) {
	system, err := prompts.CommandSystem()
	if err != nil {
		return got, nil, err
	}
	brief, err := prompts.Brief(c.task, c.o.Fence)
	if err != nil {
		return got, nil, err
	}
	shared := []api.ChatCompletionMessage{said(api.ChatMessageRoleSystem, system), said(api.ChatMessageRoleUser, brief)}
	begin := func(toolCalls int) error {
		text, err := prompts.Command(c.task, c.o.Fence, toolCalls)
		c.messages = append(slices.Clone(shared), said(api.ChatMessageRoleUser, text))
		return err
	}
	looks := c.box != nil && len(c.box.Specs()) > 0 && c.m.toolsLeft > 0 && c.m.left > answerCalls && c.task.Repair == nil
	if looks {
		if err := begin(c.m.toolsLeft); err != nil {
			return got, nil, err
		}
		early := false
		if c.messages, looks, err = look(ctx, c.m, c.o, c.box, c.messages, func(doc []byte) bool {
			a, n, err := answer.DecodeCommand(doc)
			if early = err == nil; early {
				got, notes = a, n
			}
			return early
		}); err != nil || early {
			return got, notes, err
		}
	}
	if looks {
		c.messages = append(c.messages, said(api.ChatMessageRoleUser, "No tool can be called any more. Answer now with the JSON object, and nothing else."))
	} else if err := begin(0); err != nil {
		return got, nil, err
	}
	return ask(ctx, c.m, c.o.Model, commandShape, c.o.Fence, c.task.Repair, c.messages, answer.DecodeCommand)
}
