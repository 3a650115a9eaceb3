package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
)

// toolBudget holds the answers to one call to the tool calls that are left. An agent never sees the others, so it
// cannot run them.
type toolBudget struct {
	account *account
	free    []string
	// messages is true for a request to the Messages API, which chooses tools in a shape of its own.
	messages bool
	// dropped are the places of calls that were taken out of a stream, whose arguments follow in pieces.
	dropped map[int]bool
	// counted are the calls of a streamed response, by id.
	counted map[string]bool
	kept    int
}

// limit takes the tools out of a request when none may be called any more. Those that cost nothing stay.
func (t *toolBudget) limit(fields map[string]json.RawMessage) {
	if len(fields["tools"]) == 0 || t.account.toolsOver() == nil {
		return
	}
	var tools, left []json.RawMessage
	if json.Unmarshal(fields["tools"], &tools) != nil {
		return // inspect has read it before
	}
	for _, tool := range tools {
		if slices.Contains(t.free, toolName(tool)) {
			left = append(left, tool)
		}
	}
	choose := func(word string) json.RawMessage {
		if t.messages {
			return json.RawMessage(`{"type":"` + word + `"}`)
		}
		return json.RawMessage(`"` + word + `"`)
	}
	fields["tool_choice"] = choose("auto")
	if left == nil { // the list stays: endpoints refuse a conversation with tool calls and no tools
		fields["tool_choice"] = choose("none")
		return
	}
	if raw, err := json.Marshal(left); err == nil {
		fields["tools"] = raw
	}
}

// toolName is the name of a tool, or of the call of one, in the chat or the responses shape; empty in later pieces of a
// streamed call.
func toolName(raw json.RawMessage) string {
	var w struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
		Custom struct {
			Name string `json:"name"`
		} `json:"custom"`
	}
	if json.Unmarshal(raw, &w) != nil {
		return ""
	}
	for _, n := range []string{w.Function.Name, w.Custom.Name, w.Name} {
		if n != "" {
			return n
		}
	}
	return ""
}

// take reports whether there is a budget for a call, and counts it.
func (t *toolBudget) take(name string) bool {
	if slices.Contains(t.free, name) || t.account.takeTools(1) == 1 {
		t.kept++
		return true
	}
	return false
}

// trim takes the tool calls beyond the budget out of an answer or an event of a stream. It gives the data itself when
// nothing was taken out, and nil when nothing is left of the event.
func (t *toolBudget) trim(data []byte) (rest []byte, cut bool) {
	if !bytes.Contains(data, []byte(`"tool_calls"`)) && !bytes.Contains(data, []byte(`_call"`)) && !bytes.Contains(data, []byte(`"tool_use"`)) {
		return data, false
	}
	var answer map[string]json.RawMessage
	if json.Unmarshal(data, &answer) != nil {
		return data, false
	}
	if raw, ok := answer["output"]; ok { // a whole answer of the responses API
		return t.trimOutput(data, answer, "output", raw)
	}
	if raw, ok := answer["content"]; ok { // one of the messages API
		return t.trimOutput(data, answer, "content", raw)
	}
	for _, field := range []string{"item", "content_block"} {
		if raw, ok := answer[field]; ok && !t.allows(raw) {
			return nil, true
		}
	}
	for _, field := range []string{"response", "message"} { // what a stream came to, once more, or begins with
		var whole struct{ Output, Content []json.RawMessage }
		if raw, ok := answer[field]; ok && json.Unmarshal(raw, &whole) == nil &&
			slices.ContainsFunc(slices.Concat(whole.Output, whole.Content), func(item json.RawMessage) bool { return !t.allows(item) }) {
			return nil, true
		}
	}
	var choices []map[string]json.RawMessage
	if json.Unmarshal(answer["choices"], &choices) != nil {
		return data, false
	}
	for _, choice := range choices {
		for _, field := range []string{"message", "delta"} {
			cut = t.trimMessage(choice, field) || cut
		}
	}
	if !cut {
		return data, false
	}
	return rewrite(answer, "choices", choices), true
}

// allows reports whether an item of a streamed response may pass. A call is told up to three times: when it begins, when it
// is whole, and at the end; it counts where it is first seen, as callers run it from any of them.
func (t *toolBudget) allows(item json.RawMessage) bool {
	if !calls(item) {
		return true
	}
	var at struct {
		Call string `json:"call_id"`
	}
	known := json.Unmarshal(item, &at) == nil && at.Call != "" // the messages API tells a call once
	if known && t.counted[at.Call] {
		return true
	}
	if !t.take(toolName(item)) {
		return false
	}
	if t.counted == nil {
		t.counted = map[string]bool{}
	}
	t.counted[at.Call] = true
	return true
}

func calls(item json.RawMessage) bool {
	var w struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(item, &w) == nil && slices.Contains([]string{"function_call", "custom_tool_call", "tool_use"}, w.Type)
}

func (t *toolBudget) trimOutput(data []byte, answer map[string]json.RawMessage, field string, raw json.RawMessage) ([]byte, bool) {
	var items, left []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return data, false
	}
	for _, item := range items {
		if !calls(item) || t.take(toolName(item)) {
			left = append(left, item)
		}
	}
	if len(left) == len(items) {
		return data, false
	}
	return rewrite(answer, field, left), true
}

func (t *toolBudget) trimMessage(choice map[string]json.RawMessage, field string) (cut bool) {
	var message map[string]json.RawMessage
	var list, left []json.RawMessage
	if json.Unmarshal(choice[field], &message) != nil || json.Unmarshal(message["tool_calls"], &list) != nil {
		return false
	}
	for _, c := range list {
		if t.keeps(c, field == "delta") {
			left = append(left, c)
		}
	}
	if len(left) == len(list) {
		return false
	}
	if len(left) == 0 {
		delete(message, "tool_calls")
	} else {
		message = set(message, "tool_calls", left)
	}
	set(choice, field, message)
	return true
}

// keeps decides about one call; in a stream later pieces go the way of their first one.
func (t *toolBudget) keeps(c json.RawMessage, piece bool) bool {
	var at struct {
		Index int `json:"index"`
	}
	name := toolName(c)
	if piece {
		_ = json.Unmarshal(c, &at) // without an index it is the first
		if name == "" {
			return !t.dropped[at.Index]
		}
	}
	if t.take(name) {
		return true
	}
	if piece {
		if t.dropped == nil {
			t.dropped = map[int]bool{}
		}
		t.dropped[at.Index] = true
	}
	return false
}

func set(in map[string]json.RawMessage, field string, v any) map[string]json.RawMessage {
	if raw, err := json.Marshal(v); err == nil { // it was read from JSON
		in[field] = raw
	}
	return in
}

func rewrite(answer map[string]json.RawMessage, field string, v any) []byte {
	out, err := json.Marshal(set(answer, field, v))
	if err != nil {
		return nil
	}
	return out
}
