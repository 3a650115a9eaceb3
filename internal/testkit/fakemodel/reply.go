package fakemodel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// reply is one answer on its way.
type reply struct {
	req    Request
	answer Answer
	cached int
	// ctx ends when the caller has gone.
	ctx context.Context
}

func (p reply) send(w http.ResponseWriter, r *http.Request) {
	p.ctx = r.Context()
	if p.answer.Hang {
		<-r.Context().Done()
		return
	}
	if d := p.answer.delay(); d > 0 {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return
		}
	}
	if p.answer.Drop == "before" {
		drop(w)
		return
	}
	if p.answer.Raw != "" || p.answer.fails() {
		p.answer.bare(w)
		return
	}
	p.shape(w)
}

func (a Answer) fails() bool { return a.Status != 0 && a.Status != http.StatusOK }

// bare answers what is no completion: an error, or Raw.
func (a Answer) bare(w http.ResponseWriter) {
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Headers {
		w.Header().Set(name, value)
	}
	if a.Raw != "" {
		w.WriteHeader(cmp.Or(a.Status, http.StatusOK))
		_, _ = io.WriteString(w, a.Raw)
		return
	}
	writeError(w, a.Status, cmp.Or(a.Code, "scripted_error"), cmp.Or(a.Message, "the script says so"))
}

// shape answers as the API that was called does, whole or streamed.
func (p reply) shape(w http.ResponseWriter) {
	var api interface {
		whole(http.ResponseWriter)
		stream(http.ResponseWriter)
	} = p
	switch p.req.api {
	case pathResponses:
		api = response{p}
	case pathMessages:
		api = message{p}
	}
	if p.req.Stream && !p.answer.Whole {
		p.keepAlive(w)
		api.stream(w)
	} else {
		api.whole(w)
	}
}

func (p reply) whole(w http.ResponseWriter) {
	message := map[string]any{"role": "assistant", "content": p.answer.text()}
	if p.answer.Refusal != "" {
		message["refusal"] = p.answer.Refusal
	}
	if calls := p.toolCalls(); calls != nil {
		message["tool_calls"] = calls
	}
	body := p.head("chat.completion")
	body["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": p.answer.finish()}}
	if !p.answer.NoUsage {
		body["usage"] = p.usage()
	}
	p.deliver(w, body, `"content":"`)
}

// deliver sends a whole answer, or as much of it as the script wants; text is what stands before its text.
func (p reply) deliver(w http.ResponseWriter, body map[string]any, text string) {
	data, err := json.Marshal(body)
	if err != nil {
		panic(err) // only maps of plain values stand in it
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case p.answer.Endless:
		half, _, _ := strings.Cut(string(data), text)
		_, _ = io.WriteString(w, half+text)
		forever(w, strings.Repeat("and so on ", 400))
	case p.answer.Drop == "middle":
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		drop(w)
	default:
		_, _ = w.Write(data)
	}
}

// keepAlive sends comments, as endpoints do while a model thinks without a word.
func (p reply) keepAlive(w http.ResponseWriter) {
	if p.answer.KeepAlives == 0 {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for range p.answer.KeepAlives {
		p.pause()
		_, _ = io.WriteString(w, ": keep-alive\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}

func (p reply) pause() {
	select {
	case <-time.After(time.Duration(p.answer.PaceMillis) * time.Millisecond):
	case <-p.ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// pieces are what a streamed text is sent in.
func (p reply) pieces(text string) []string { return split(text, cmp.Or(p.answer.PieceRunes, 40)) }

// piece is called before each of n pieces.
func (p reply) piece(w http.ResponseWriter, k, n int) {
	switch {
	case p.answer.Drop == "middle" && k == n/2:
		drop(w)
	case p.answer.Stall > 0 && k >= p.answer.Stall:
		<-p.ctx.Done()
		panic(http.ErrAbortHandler)
	case p.answer.PaceMillis > 0:
		p.pause()
	}
}

func (p reply) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = p.chunk(w, map[string]any{"role": "assistant", "content": ""}, nil)
	if p.answer.Endless {
		for p.chunk(w, map[string]any{"content": "and so on "}, nil) == nil {
		}
		return
	}
	if p.answer.Reasoning != "" {
		for _, piece := range p.pieces(p.answer.Reasoning) {
			p.piece(w, 0, -1)
			_ = p.chunk(w, map[string]any{"reasoning_content": piece}, nil)
		}
	}
	pieces := p.pieces(p.answer.text())
	for i, piece := range pieces {
		p.piece(w, i, len(pieces))
		_ = p.chunk(w, map[string]any{"content": piece}, nil)
	}
	if p.answer.Refusal != "" {
		_ = p.chunk(w, map[string]any{"refusal": p.answer.Refusal}, nil)
	}
	for i, call := range p.toolCalls() {
		call["index"] = i
		_ = p.chunk(w, map[string]any{"tool_calls": []any{call}}, nil)
	}
	_ = p.chunk(w, map[string]any{}, p.answer.finish())
	if p.req.includeUsage && !p.answer.NoUsage {
		last := p.head("chat.completion.chunk")
		last["choices"], last["usage"] = []any{}, p.usage()
		_ = event(w, last)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func (p reply) chunk(w http.ResponseWriter, delta map[string]any, finish any) error {
	c := p.head("chat.completion.chunk")
	c["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	return event(w, c)
}

func event(w http.ResponseWriter, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

func (p reply) head(object string) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", p.req.Call), "object": object, "created": 1_700_000_000 + p.req.Call, "model": p.req.Model,
	}
}

func (p reply) toolCalls() []map[string]any {
	var calls []map[string]any
	for i, c := range p.answer.ToolCalls {
		calls = append(calls, map[string]any{
			"id": cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", p.req.Call, i)), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		})
	}
	return calls
}

func (p reply) usage() map[string]any {
	u := Usage{Input: len(flat(p.req)) / bytesPerToken, Cached: p.cached, Output: len(p.answer.text())/bytesPerToken + 1}
	if p.answer.Usage != nil {
		u = *p.answer.Usage
	}
	m := map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}
	if u.CostUSD != nil {
		m["cost"] = *u.CostUSD
	}
	return m
}

// forever sends the text again and again until the caller has gone.
func forever(w http.ResponseWriter, text string) {
	flush := http.NewResponseController(w)
	for {
		if _, err := io.WriteString(w, text); err != nil || flush.Flush() != nil {
			return
		}
	}
}

// drop cuts the connection without a proper end.
func drop(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func split(s string, size int) []string {
	r := []rune(s)
	var out []string
	for len(r) > size {
		out = append(out, string(r[:size]))
		r = r[size:]
	}
	return append(out, string(r))
}
