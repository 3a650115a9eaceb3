package modelagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	api "github.com/sashabaranov/go-openai"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// Same asks a model of each question whether its two texts mean the same fault: one call, and one more where its answer does not hold each question
// exactly once. limits bound it.
func Same(ctx context.Context, questions []prompts.Compared, o Options, limits review.Limits) (map[string]bool, error) {
	ctx, cancel := bounded(ctx, limits)
	defer cancel()
	text, err := prompts.Same(questions, o.Fence)
	if err != nil {
		return nil, err
	}
	m := connect(o, limits, func(review.Event) {})
	m.format = byName
	got, _, err := ask(ctx, m, o.Model, "", o.Fence, nil, []api.ChatCompletionMessage{said(api.ChatMessageRoleUser, text)}, func(doc []byte) (map[string]bool, schema.Notes, error) {
		got, err := decodeSame(doc, questions)
		return got, nil, err
	})
	return got, err
}

// decodeSame takes an answer that holds each question exactly once, and nothing else.
func decodeSame(doc []byte, questions []prompts.Compared) (map[string]bool, error) {
	var wire struct {
		Answers []struct {
			ID   string `json:"id"`
			Same *bool  `json:"same"`
		} `json:"answers"`
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	if err := d.Decode(&wire); err != nil {
		return nil, fmt.Errorf("it is not the JSON object that was asked for: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	asked := map[string]bool{}
	for _, q := range questions {
		asked[q.ID] = true
	}
	out := map[string]bool{}
	for _, a := range wire.Answers {
		_, twice := out[a.ID]
		switch {
		case !asked[a.ID]:
			return nil, fmt.Errorf("nobody asked question %q", a.ID)
		case twice:
			return nil, fmt.Errorf("question %s is answered twice", a.ID)
		case a.Same == nil:
			return nil, fmt.Errorf("question %s has no answer: same is true or false", a.ID)
		}
		out[a.ID] = *a.Same
	}
	if len(out) != len(asked) {
		return nil, fmt.Errorf("%d of %d questions are answered", len(out), len(asked))
	}
	return out, nil
}
