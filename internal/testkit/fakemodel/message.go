package fakemodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
)

// message answers in the shape of the Messages API.
type message struct{ reply }

// blocks are what the answer is made of: the text, then the calls of tools.
func (p message) blocks() []map[string]any {
	var blocks []map[string]any
	if text := p.answer.text(); text != "" || len(p.answer.ToolCalls) == 0 {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	for i, c := range p.answer.ToolCalls {
		var input any
		if json.Unmarshal([]byte(c.Arguments), &input) != nil {
			input = map[string]any{}
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": cmp.Or(c.ID, fmt.Sprintf("toolu_%d_%d", p.req.Call, i)), "name": c.Name, "input": input})
	}
	return blocks
}

func (p message) stop() string {
	switch {
	case p.answer.Refusal != "":
		return "refusal"
	case p.answer.Finish == "length":
		return "max_tokens"
	case len(p.answer.ToolCalls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// tokens are the usage as this API counts it: what the cache held is no part of input_tokens.
func (p message) tokens() map[string]any {
	u := p.usage()
	cached := u["prompt_tokens_details"].(map[string]any)["cached_tokens"].(int)
	return map[string]any{
		"input_tokens": u["prompt_tokens"].(int) - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
		"output_tokens": u["completion_tokens"],
	}
}

func (p message) body(content []map[string]any, stop any) map[string]any {
	if content == nil {
		content = []map[string]any{}
	}
	b := map[string]any{
		"id": fmt.Sprintf("msg_%d", p.req.Call), "type": "message", "role": "assistant", "model": p.req.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
	}
	if !p.answer.NoUsage {
		b["usage"] = p.tokens()
	}
	return b
}

func (p message) whole(w http.ResponseWriter) { p.deliver(w, p.body(p.blocks(), p.stop()), `"text":"`) }

func (p message) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w: w}
	opened := p.body(nil, nil)
	if tokens, ok := opened["usage"].(map[string]any); ok {
		tokens["output_tokens"] = 1
	}
	_ = e.send("message_start", map[string]any{"message": opened})
	for i, block := range p.blocks() {
		p.block(e, i, block)
	}
	last := map[string]any{"delta": map[string]any{"stop_reason": p.stop(), "stop_sequence": nil}}
	if !p.answer.NoUsage {
		last["usage"] = map[string]any{"output_tokens": p.tokens()["output_tokens"]}
	}
	_ = e.send("message_delta", last)
	_ = e.send("message_stop", map[string]any{})
}

// block streams one block: opened empty, filled in pieces, closed.
func (p message) block(e *events, i int, block map[string]any) {
	opened, kind, field, text := map[string]any{"type": "text", "text": ""}, "text_delta", "text", p.answer.text()
	if block["type"] == "tool_use" {
		data, err := json.Marshal(block["input"])
		if err != nil {
			panic(err) // it was read from JSON
		}
		opened, kind, field, text = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}, "input_json_delta", "partial_json", string(data)
	}
	_ = e.send("content_block_start", map[string]any{"index": i, "content_block": opened})
	delta := func(piece string) error {
		return e.send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: piece}})
	}
	for p.answer.Endless && delta("and so on ") == nil {
	}
	pieces := p.pieces(text)
	for k, piece := range pieces {
		p.piece(e.w, k, len(pieces))
		_ = delta(piece)
	}
	_ = e.send("content_block_stop", map[string]any{"index": i})
}
