package fakemodel

import (
	"cmp"
	"fmt"
	"net/http"
)

// response answers in the shape of the Responses API.
type response struct{ reply }

// items are what the answer is made of: the text, then the calls of tools.
func (p response) items() []map[string]any {
	var items []map[string]any
	if text := p.answer.text(); text != "" || len(p.answer.ToolCalls) == 0 {
		part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}}
		if p.answer.Refusal != "" {
			part = map[string]any{"type": "refusal", "refusal": p.answer.Refusal}
		}
		items = append(items, map[string]any{"id": fmt.Sprintf("msg_%d", p.req.Call), "type": "message", "role": "assistant",
			"status": "completed", "content": []any{part}})
	}
	for i, c := range p.answer.ToolCalls {
		id := cmp.Or(c.ID, fmt.Sprintf("call_%d_%d", p.req.Call, i))
		items = append(items, map[string]any{"id": "fc_" + id, "type": "function_call", "status": "completed", "call_id": id,
			"name": c.Name, "arguments": c.Arguments})
	}
	return items
}

// body is the response object. A finish of "length" makes it incomplete, as the real API says it.
func (p response) body(status string, items []map[string]any) map[string]any {
	b := map[string]any{
		"id": fmt.Sprintf("resp_%d", p.req.Call), "object": "response", "created_at": 1_700_000_000 + p.req.Call, "model": p.req.Model,
		"status": status, "output": items, "error": nil, "incomplete_details": nil,
	}
	if status == "incomplete" {
		b["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	if status != "in_progress" && !p.answer.NoUsage {
		u := p.usage()
		b["usage"] = map[string]any{
			"input_tokens": u["prompt_tokens"], "output_tokens": u["completion_tokens"], "total_tokens": u["total_tokens"],
			"input_tokens_details": u["prompt_tokens_details"], "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		}
		if cost, ok := u["cost"]; ok {
			b["usage"].(map[string]any)["cost"] = cost
		}
	}
	return b
}

func (p response) status() string {
	if p.answer.Finish == "length" {
		return "incomplete"
	}
	return "completed"
}

func (p response) whole(w http.ResponseWriter) {
	p.deliver(w, p.body(p.status(), p.items()), `"text":"`)
}

func (p response) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := &events{w: w, numbered: true}
	_ = e.send("response.created", map[string]any{"response": p.body("in_progress", nil)})
	items := p.items()
	for i, item := range items {
		p.item(e, i, item)
	}
	_ = e.send("response."+p.status(), map[string]any{"response": p.body(p.status(), items)})
}

// item streams one item: opened empty, filled in pieces, told whole.
func (p response) item(e *events, i int, item map[string]any) {
	opened := map[string]any{"id": item["id"], "type": item["type"], "status": "in_progress"}
	kind, text := "response.output_text", p.answer.text()
	if item["type"] == "message" {
		opened["role"], opened["content"] = "assistant", []any{}
	} else {
		kind, text = "response.function_call_arguments", fmt.Sprint(item["arguments"])
		opened["call_id"], opened["name"], opened["arguments"] = item["call_id"], item["name"], ""
	}
	at := func(field, value string) map[string]any {
		return map[string]any{"item_id": item["id"], "output_index": i, "content_index": 0, field: value}
	}
	_ = e.send("response.output_item.added", map[string]any{"output_index": i, "item": opened})
	for p.answer.Endless && e.send(kind+".delta", at("delta", "and so on ")) == nil {
	}
	pieces := p.pieces(text)
	for k, piece := range pieces {
		p.piece(e.w, k, len(pieces))
		_ = e.send(kind+".delta", at("delta", piece))
	}
	_ = e.send(kind+".done", at("text", text))
	_ = e.send("response.output_item.done", map[string]any{"output_index": i, "item": item})
}

// events sends named events, numbered where the API numbers them.
type events struct {
	w        http.ResponseWriter
	numbered bool
	sent     int
}

func (e *events) send(kind string, fields map[string]any) error {
	fields["type"] = kind
	if e.numbered {
		fields["sequence_number"] = e.sent
	}
	e.sent++
	if _, err := fmt.Fprintf(e.w, "event: %s\n", kind); err != nil {
		return err
	}
	return event(e.w, fields)
}
