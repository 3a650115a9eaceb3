package modelagent

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	api "github.com/sashabaranov/go-openai"
)

// answerBytes bounds an answer, streamed or whole, and lineBytes one line of a stream, as the gateway does.
const (
	answerBytes = 32 << 20
	lineBytes   = 1<<20 + 1<<10
)

// newsEvery is the time between two pieces of news of an answer that is on its way.
const newsEvery = time.Second

// bytesPerToken is the rough size of a token.
const bytesPerToken = 4

// errBroken says that an answer broke off in the middle.
var errBroken = errors.New("the answer broke off before its end")

// post sends one request and reads its answer, which is a stream when the request asks for one and the endpoint knows streams.
// Errors of the endpoint are *api.APIError and *api.RequestError; news is told how much came so far, in tokens. What came of an
// answer before its error is returned with the error.
func (m *model) post(ctx context.Context, request api.ChatCompletionRequest, news func(tokens int)) (api.ChatCompletionResponse, error) {
	var none api.ChatCompletionResponse
	if err := api.NewReasoningValidator().Validate(request); err != nil { // it knows what some models take, which saves a call
		return none, err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return none, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return none, err
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := m.client.Do(req)
	if err != nil {
		return none, err
	}
	defer resp.Body.Close()
	from := &io.LimitedReader{R: resp.Body, N: answerBytes}
	switch {
	case resp.StatusCode != http.StatusOK:
		return none, refusedBy(resp, from)
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		return gathered(from, news)
	}
	var whole api.ChatCompletionResponse
	if data, err := io.ReadAll(from); err != nil {
		return begun(data), fmt.Errorf("read the answer: %w", err)
	} else if err := json.Unmarshal(data, &whole); err != nil {
		return begun(data), fmt.Errorf("read the answer: %w", err)
	}
	return whole, nil
}

// begun is what came of an answer that is no stream and is no whole document: its text stands in it somewhere.
func begun(data []byte) (resp api.ChatCompletionResponse) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		resp.Choices = []api.ChatCompletionChoice{{Message: api.ChatCompletionMessage{Content: string(data)}}}
	}
	return resp
}

// refusedBy is the error an endpoint answered.
func refusedBy(resp *http.Response, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var e api.ErrorResponse
	if err := json.Unmarshal(data, &e); err != nil || e.Error == nil {
		return &api.RequestError{HTTPStatusCode: resp.StatusCode, HTTPStatus: resp.Status, Err: err, Body: data}
	}
	e.Error.HTTPStatusCode, e.Error.HTTPStatus = resp.StatusCode, resp.Status
	return e.Error
}

// chunk is one event of a stream.
type chunk struct {
	Model string `json:"model"`
	// Usage has figures of other types for some endpoints, which is no fault of the answer: the gateway counts for itself.
	Usage   json.RawMessage `json:"usage"`
	Error   *api.APIError   `json:"error"`
	Choices []struct {
		Delta struct {
			Content   string         `json:"content"`
			Refusal   string         `json:"refusal"`
			ToolCalls []api.ToolCall `json:"tool_calls"`
			// Thoughts, which are only counted. Endpoints have two names for them, and more than one shape.
			Reasoning        json.RawMessage `json:"reasoning"`
			ReasoningContent json.RawMessage `json:"reasoning_content"`
		} `json:"delta"`
		FinishReason api.FinishReason `json:"finish_reason"`
	} `json:"choices"`
}

// assembly is an answer that grows.
type assembly struct {
	model         string
	usage         api.Usage
	text, refusal strings.Builder
	calls         []api.ToolCall
	finish        api.FinishReason
	// thought is how many bytes of thoughts came.
	thought int
}

// gathered reads a stream to its end. What came before an error is returned with it.
func gathered(from io.Reader, news func(tokens int)) (api.ChatCompletionResponse, error) {
	var a assembly
	told := time.Now()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, lineBytes)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if data = bytes.TrimSpace(data); !ok || len(data) == 0 { // a comment, a name, the end of an event
			continue
		}
		if string(data) == "[DONE]" {
			return a.answer(), nil
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			return a.answer(), fmt.Errorf("read the answer: %w", err)
		}
		if c.Error != nil {
			return a.answer(), c.Error
		}
		a.add(c)
		if time.Since(told) >= newsEvery {
			told = time.Now()
			news(a.tokens())
		}
	}
	err := lines.Err()
	switch {
	case err == nil && a.finish != "": // the end that some endpoints leave out
		return a.answer(), nil
	case err == nil:
		err = io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrTooLong):
		return a.answer(), fmt.Errorf("read the answer: %w", err)
	}
	return a.answer(), fmt.Errorf("%w: %w", errBroken, err)
}

// add takes an event in. Of several answers the first counts.
func (a *assembly) add(c chunk) {
	a.model = cmp.Or(c.Model, a.model)
	var usage *api.Usage
	if json.Unmarshal(c.Usage, &usage) == nil && usage != nil {
		a.usage = *usage
	}
	if len(c.Choices) == 0 {
		return
	}
	first := c.Choices[0]
	a.text.WriteString(first.Delta.Content)
	a.refusal.WriteString(first.Delta.Refusal)
	a.thought += len(first.Delta.Reasoning) + len(first.Delta.ReasoningContent)
	for _, call := range first.Delta.ToolCalls {
		a.call(call)
	}
	a.finish = cmp.Or(first.FinishReason, a.finish)
}

// call takes a piece of a tool call in. A piece belongs to the call of its index; without one, to the newest unless it begins another.
func (a *assembly) call(piece api.ToolCall) {
	at := len(a.calls) - 1
	switch {
	case piece.Index != nil:
		for at >= 0 && (a.calls[at].Index == nil || *a.calls[at].Index != *piece.Index) {
			at--
		}
	case piece.ID != "":
		at = -1
	}
	if at < 0 {
		a.calls = append(a.calls, piece)
		return
	}
	c := &a.calls[at]
	c.ID, c.Type = cmp.Or(c.ID, piece.ID), cmp.Or(c.Type, piece.Type)
	c.Function.Name += piece.Function.Name
	c.Function.Arguments += piece.Function.Arguments
}

// tokens is roughly how much came so far.
func (a *assembly) tokens() int {
	n := a.text.Len() + a.refusal.Len() + a.thought
	for _, c := range a.calls {
		n += len(c.Function.Arguments)
	}
	return n / bytesPerToken
}

// answer is the whole, as an endpoint that does not stream gives it.
func (a *assembly) answer() api.ChatCompletionResponse {
	for i := range a.calls {
		a.calls[i].Index = nil // a request takes none
		a.calls[i].Type = cmp.Or(a.calls[i].Type, api.ToolTypeFunction)
	}
	out := api.ChatCompletionResponse{Model: a.model, Usage: a.usage}
	if a.text.Len()+a.refusal.Len()+len(a.calls) > 0 || a.finish != "" {
		out.Choices = []api.ChatCompletionChoice{{
			Message:      api.ChatCompletionMessage{Role: api.ChatMessageRoleAssistant, Content: a.text.String(), Refusal: a.refusal.String(), ToolCalls: a.calls},
			FinishReason: a.finish,
		}}
	}
	return out
}
