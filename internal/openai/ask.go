package openai

import (
	"context"
	"errors"
	"fmt"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// attempts is how often one question is put in all (spec.md R2).
const attempts = 2

// InvalidError says that the model's answer stayed invalid. A child that prints Raw as its answer lets the parent keep
// the findings that are valid one by one.
type InvalidError struct {
	// Raw is the last answer; the one before it stands in front when only that may hold a P0 or P1.
	Raw []byte
	Err error
}

// Error gives the reason, not the answer.
func (e *InvalidError) Error() string { return "the model's answer is invalid: " + e.Err.Error() }

// Unwrap gives the reason.
func (e *InvalidError) Unwrap() error { return e.Err }

func said(role, text string) api.ChatCompletionMessage {
	return api.ChatCompletionMessage{Role: role, Content: text}
}

// echoLimit bounds how much of a refused answer is shown to the model again, in bytes.
const echoLimit = 60_000

// ask puts a question until the answer decodes, at most twice; the second time it quotes what was wrong. A question
// that is itself a repair turn of the parent (task.Repair) starts with what was wrong then.
func ask[T any](ctx context.Context, m *model, name, shape, fence string, repair *review.Repair, messages []api.ChatCompletionMessage,
	decode func([]byte) (T, wire.Notes, error),
) (T, []string, error) {
	var zero T
	if repair != nil {
		next, err := mend(messages, fence, repair.Answer, repair.Error)
		if err != nil {
			return zero, nil, err
		}
		messages = next
	}
	var invalid *InvalidError
	for try := 1; try <= attempts; try++ {
		r, err := m.say(ctx, name, shape, messages)
		if err != nil && invalid != nil {
			if cut := (*InvalidError)(nil); errors.As(err, &cut) { // it began to answer
				invalid.Raw = slices.Concat(invalid.Raw, []byte("\n"), cut.Raw)
			}
			invalid.Err = fmt.Errorf("%w; asking again: %w", invalid.Err, err)
			return zero, nil, invalid
		}
		if err != nil {
			return zero, nil, err
		}
		if r.fault == "" {
			doc, beside := apart(r.text)
			got, notes, err := decode([]byte(doc))
			if err == nil {
				m.beside = []byte(beside)
				return got, notes, nil
			}
			r.fault = err.Error()
		}
		raw := []byte(r.text)
		if invalid != nil && wire.MayBlock(invalid.Raw) && !wire.MayBlock(raw) {
			raw = slices.Concat(invalid.Raw, []byte("\n"), raw)
		}
		invalid = &InvalidError{Raw: raw, Err: fmt.Errorf("%s", r.fault)}
		m.refused = raw
		if try == attempts {
			break
		}
		m.emit(review.Event{Kind: review.EventProgress, Message: "asking " + name + " to repair its answer"})
		if messages, err = mend(messages, fence, r.text, r.fault); err != nil {
			return zero, nil, err
		}
	}
	return zero, nil, invalid
}

// fix adds the refused answer and the reason to a conversation.
func mend(messages []api.ChatCompletionMessage, fence, answer, reason string) ([]api.ChatCompletionMessage, error) {
	text, err := prompts.Repair(fence, reason)
	if err != nil {
		return nil, err
	}
	if len(answer) > echoLimit {
		answer = answer[:echoLimit]
	}
	next := append([]api.ChatCompletionMessage{}, messages...)
	if answer != "" {
		next = append(next, said(api.ChatMessageRoleAssistant, answer))
	}
	return append(next, said(api.ChatMessageRoleUser, text)), nil
}
