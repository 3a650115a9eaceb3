package gateway

import (
	"encoding/json"
	"slices"
	"strings"
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
	_ = json.Unmarshal(raw, &w) // a name that is no text hides no other
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

// trim takes the tool calls beyond the budget out of an answer or an event of a stream, in whatever field and spelling they are told. It gives the data itself when
// nothing was taken out, and nil when nothing is left of the event.
func (t *toolBudget) trim(data []byte) (rest []byte, cut bool) {
	var answer map[string]json.RawMessage
	if json.Unmarshal(data, &answer) != nil {
		return data, false
	}
	for _, field := range spelled(answer, "item", "content_block") {
		if !t.allows(answer[field]) {
			return nil, true
		}
	}
	for _, field := range spelled(answer, "response", "message") { // what a stream came to, once more, or begins with
		var whole struct{ Output, Content []json.RawMessage }
		_ = json.Unmarshal(answer[field], &whole) // a field that is no list hides no other
		if slices.ContainsFunc(slices.Concat(whole.Output, whole.Content), func(item json.RawMessage) bool { return !t.allows(item) }) {
			return nil, true
		}
	}
	for _, field := range spelled(answer, "output", "content") { // a whole answer of the responses API, or of the messages API
		cut = t.trimOutput(answer, field) || cut
	}
	if cut = t.trimChoices(answer) || cut; !cut {
		return data, false
	}
	rest, err := json.Marshal(answer)
	if err != nil {
		return nil, true // not reached: it was read from JSON
	}
	return rest, true
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

func (t *toolBudget) trimOutput(answer map[string]json.RawMessage, field string) (cut bool) {
	var items, left []json.RawMessage
	if json.Unmarshal(answer[field], &items) != nil {
		return false
	}
	for _, item := range items {
		if !calls(item) || t.take(toolName(item)) {
			left = append(left, item)
		}
	}
	if len(left) == len(items) {
		return false
	}
	set(answer, field, left)
	return true
}

func (t *toolBudget) trimChoices(answer map[string]json.RawMessage) (cut bool) {
	for _, field := range spelled(answer, "choices") {
		var choices []map[string]json.RawMessage
		_ = json.Unmarshal(answer[field], &choices) // one that is no object hides no other
		some := false
		for _, choice := range choices {
			for _, part := range spelled(choice, "message", "delta") {
				some = t.trimMessage(choice, part) || some
			}
		}
		if some {
			set(answer, field, choices)
		}
		cut = cut || some
	}
	return cut
}

func (t *toolBudget) trimMessage(choice map[string]json.RawMessage, field string) (cut bool) {
	var message map[string]json.RawMessage
	if json.Unmarshal(choice[field], &message) != nil {
		return false
	}
	piece := strings.EqualFold(field, "delta")
	for _, name := range spelled(message, "tool_calls") {
		cut = t.trimCalls(message, name, piece) || cut
	}
	for _, name := range spelled(message, "function_call") { // the older shape, of one call
		if string(message[name]) != "null" && !t.keeps(message[name], piece) {
			delete(message, name)
			cut = true
		}
	}
	if cut {
		set(choice, field, message)
	}
	return cut
}

func (t *toolBudget) trimCalls(message map[string]json.RawMessage, field string, piece bool) (cut bool) {
	var list, left []json.RawMessage
	if json.Unmarshal(message[field], &list) != nil {
		return false
	}
	for _, c := range list {
		if t.keeps(c, piece) {
			left = append(left, c)
		}
	}
	switch len(left) {
	case len(list):
		return false
	case 0:
		delete(message, field)
	default:
		set(message, field, left)
	}
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

func set(in map[string]json.RawMessage, field string, v any) {
	if raw, err := json.Marshal(v); err == nil { // it was read from JSON
		in[field] = raw
	}
}

// spelled gives the names of an object that a reader may take for one of fields: some, of Go for example, read them in capitals too.
func spelled(object map[string]json.RawMessage, fields ...string) (names []string) {
	for name := range object {
		if slices.ContainsFunc(fields, func(field string) bool { return strings.EqualFold(name, field) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
