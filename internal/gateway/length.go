package gateway

import (
	"context"
	"encoding/json"
	"fmt"
)

// answerTokens is the context key of how many tokens the answer to a request may have, of whole answers.
type answerTokens struct{}

// wireBytesPerToken is the most bytes a token is taken for while an answer is still on the wire, where text is escaped and
// has a frame of frameBytes around it.
const (
	wireBytesPerToken = 32
	frameBytes        = 64 << 10
)

func withAnswerLimit(ctx context.Context, tokens int) context.Context {
	return context.WithValue(ctx, answerTokens{}, tokens)
}

// answerLimit is how many bytes of a whole answer are read before it is given up, at most most. tokens is 0 when the
// request set no bound.
func answerLimit(ctx context.Context, most int64) (limit int64, tokens int) {
	tokens, _ = ctx.Value(answerTokens{}).(int)
	if tokens <= 0 {
		return most, 0
	}
	return min(most, int64(tokens)*wireBytesPerToken+frameBytes), tokens
}

func tooLong(tokens int, size int64) error {
	return &BudgetError{Axis: AxisTokens, Limit: fmt.Sprintf("%d for one answer", tokens), Spent: fmt.Sprintf("more than %d bytes", size)}
}

// overlong is the error of a whole answer that goes beyond the limit its request set; nil of one that keeps it. The
// endpoint's own count is believed, as it is when the answer is paid for.
func overlong(data []byte, s spent, tokens int) error {
	if s.output != nil && *s.output <= tokens {
		return nil
	}
	if said := answered(data); said > tokens*bytesPerToken+outputSlack {
		return tooLong(tokens, int64(tokens*bytesPerToken+outputSlack))
	}
	return nil
}

// answered is how many bytes of text a whole answer of any API holds.
func answered(data []byte) int {
	var a struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
		Output  json.RawMessage `json:"output"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(data, &a) != nil {
		return len(data)
	}
	n := 0
	for _, c := range a.Choices {
		n += texts(c.Message)
	}
	for _, part := range []json.RawMessage{a.Output, a.Content} {
		if len(part) > 0 {
			n += texts(part)
		}
	}
	return n
}

// streamBytesPerToken is the most bytes a token is taken for in a stream, where each may come in an event of its own; streamsMost
// is how many times the cap of a whole answer a stream may have all the same.
const (
	streamBytesPerToken = 512
	streamsMost         = 4
)

// streamLimit is how many bytes a stream may have whose answer may have so many tokens.
func streamLimit(most int64, tokens int) int64 {
	return min(max(most, int64(min(tokens, 1<<30))*streamBytesPerToken), streamsMost*most)
}
