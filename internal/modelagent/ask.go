package modelagent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// attempts is how often one question is put in all (spec.md R2).
const attempts = 2

// InvalidError says that the model's answer stayed invalid. A child that prints Raw as its answer lets the parent keep
// the findings that are valid one by one.
type InvalidError struct {
	// Raw is the last answer; those before it that may hold a P0 or P1 stand in front (answer.Each).
	Raw []byte
	Err error
	// Asked is how often the model was asked and answered something else; 0 where an answer broke off.
	Asked int
}

// Error gives the reason, not the answer.
func (e *InvalidError) Error() string {
	if e.Asked == 0 {
		return "the model's answer is invalid: " + e.Err.Error()
	}
	return fmt.Sprintf("the model did not answer with the JSON that it was asked for (attempts: %d; %v); try another model (--model), or see what it answers (--record-models FILE)", e.Asked, e.Err)
}

// Unwrap gives the reason.
func (e *InvalidError) Unwrap() error { return e.Err }

func said(role, text string) api.ChatCompletionMessage {
	return api.ChatCompletionMessage{Role: role, Content: text}
}

// echoLimit bounds how much of a refused answer is shown to the model again, in bytes.
const echoLimit = 60_000

// ask puts a question until the answer decodes, at most twice; the second time it quotes what was wrong. A question
// that is itself a repair turn of the parent (task.Repair) starts with what was wrong then. An answer that only claims more than it
// lists is kept for when the second is no better.
func ask[T any](ctx context.Context, m *model, name, shape, fence string, repair *review.Repair, messages []api.ChatCompletionMessage,
	decode func([]byte) (T, schema.Notes, error),
) (T, []string, error) {
	var zero T
	if repair != nil {
		next, err := withRepair(messages, fence, repair.Answer, repair.Error)
		if err != nil {
			return zero, nil, err
		}
		messages = next
	}
	var invalid *InvalidError
	var held *accepted[T]
	for try := 1; try <= attempts; try++ {
		r, err := m.say(ctx, name, shape, messages)
		if err != nil && held != nil {
			m.beside, m.refused = held.beside, nil
			if cut := (*InvalidError)(nil); errors.As(err, &cut) { // it began to answer
				m.refused = cut.Raw
			}
			m.tell(err)
			return held.answer, append(held.notes, "it claims more than it lists, and asked again it gave no answer: "+kind(err)), nil
		}
		if err != nil && invalid != nil {
			if cut := (*InvalidError)(nil); errors.As(err, &cut) { // it began to answer
				invalid.Raw = together(invalid.Raw, cut.Raw)
			}
			invalid.Err = fmt.Errorf("%w; asking again: %w", invalid.Err, err)
			invalid.Raw = m.withBegun(invalid.Raw)
			return zero, nil, invalid
		}
		if err != nil {
			return zero, nil, err
		}
		if r.fault == "" {
			doc, beside, err := apart(r.text)
			var got T
			var notes []string
			if err == nil {
				got, notes, err = decode(doc)
			}
			claim := (*answer.ClaimError)(nil)
			switch over := errors.As(err, &claim); {
			case err == nil, over && try == attempts:
				m.beside = beside
				return got, notes, nil
			case over:
				held = &accepted[T]{got, notes, beside}
			}
			r.fault = err.Error()
		}
		raw := []byte(r.text)
		if invalid != nil && answer.MayBlock(invalid.Raw) {
			raw = together(invalid.Raw, raw)
		}
		invalid = &InvalidError{Raw: raw, Err: fmt.Errorf("%s", r.fault), Asked: try}
		m.refused = raw
		if try == attempts {
			break
		}
		m.emit(review.Event{Kind: review.EventProgress, Message: "asking " + name + " to repair its answer"})
		if messages, err = withRepair(messages, fence, r.text, r.fault); err != nil {
			return zero, nil, err
		}
	}
	if held != nil {
		m.beside = held.beside
		return held.answer, append(held.notes, "it claims more than it lists, and its second answer was refused: "+invalid.Err.Error()), nil
	}
	invalid.Raw = m.withBegun(invalid.Raw)
	return zero, nil, invalid
}

// together are two texts of answers as one.
func together(before, text []byte) []byte { return slices.Concat(before, []byte(answer.Next), text) }

// withBegun puts what came of answers that broke off and may hold a P0 or P1 in front of what was refused.
func (m *model) withBegun(raw []byte) []byte {
	for _, text := range m.begun {
		if answer.MayBlock(text) && !bytes.Contains(raw, text) {
			raw = together(text, raw)
		}
	}
	return raw
}

// handOn gives an error what was said before it and may hold a P0 or P1.
func (m *model) handOn(err error) error {
	invalid := &InvalidError{Err: err}
	_ = errors.As(err, &invalid)
	if raw := m.withBegun(invalid.Raw); len(raw) > 0 {
		invalid.Raw = raw
		return invalid
	}
	return err
}

// accepted is an answer that decodes, with its notes and the text beside it.
type accepted[T any] struct {
	answer T
	notes  []string
	beside []byte
}

// withRepair adds the refused answer and the reason to a conversation.
func withRepair(messages []api.ChatCompletionMessage, fence, answer, reason string) ([]api.ChatCompletionMessage, error) {
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
