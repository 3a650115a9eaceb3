package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// pathMessages is the Anthropic Messages API, which Claude Code speaks. It is handed to the endpoint of the model as it is:
// nothing is translated, the endpoint has to serve it.
const pathMessages = "/messages"

// anthropicVersion is the version of the API the gateway knows. No beta header is ever sent.
const anthropicVersion = "2023-06-01"

// messageFields are what a request may say; everything else belongs to betas or labels the caller and is left out.
var messageFields = []string{
	"model", "messages", "system", "max_tokens", "stream", "tools", "tool_choice", "stop_sequences", "temperature", "top_p", "top_k", "thinking",
}

// keepMessageFields leaves out what the API would refuse without the header of a beta.
func keepMessageFields(fields map[string]json.RawMessage) {
	for name := range fields {
		if !slices.Contains(messageFields, name) {
			delete(fields, name)
		}
	}
}

// messageReaches names the first thing in a request to the Messages API that would make the provider reach out, run
// something, or bring out what an earlier call left there; empty when there is none.
func messageReaches(fields map[string]json.RawMessage) string {
	for _, name := range []string{"mcp_servers", "container"} {
		if raw, ok := fields[name]; ok && string(raw) != "null" {
			return "field " + name
		}
	}
	var tools []struct {
		Type string `json:"type"`
	}
	if raw, ok := fields["tools"]; ok && json.Unmarshal(raw, &tools) != nil {
		return "field tools has the wrong shape"
	}
	for _, t := range tools {
		if t.Type != "" && t.Type != "custom" {
			return fmt.Sprintf("a tool of the kind %.40q", t.Type)
		}
	}
	var messages []struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(fields["messages"], &messages) != nil {
		return "field messages has the wrong shape"
	}
	for _, m := range messages {
		if why := unknownBlock(m.Content); why != "" {
			return why
		}
	}
	return unknownBlock(fields["system"])
}

// unknownBlock names the first block of a content that is neither text, nor what the model and the caller's tools said, nor a
// picture or document that is given whole.
func unknownBlock(content json.RawMessage) string {
	if len(content) == 0 || content[0] != '[' {
		return "" // a text, or nothing
	}
	var blocks []struct {
		Type   string `json:"type"`
		Source struct {
			Type string `json:"type"`
		} `json:"source"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return "a content has the wrong shape"
	}
	for _, b := range blocks {
		switch b.Type {
		case "text", "tool_use", "thinking", "redacted_thinking":
		case "tool_result":
			if why := unknownBlock(b.Content); why != "" {
				return why
			}
		case "image", "document":
			if b.Source.Type != "base64" && b.Source.Type != "text" {
				return "a message part with an address"
			}
		default:
			return fmt.Sprintf("a content block of the kind %.40q", b.Type)
		}
	}
	return ""
}

// fitThinking takes the wish to think out of a request whose answer has become too short for it; the API refuses the two
// together.
func fitThinking(fields map[string]json.RawMessage, output int) {
	var t struct {
		Budget int `json:"budget_tokens"`
	}
	if raw, ok := fields["thinking"]; ok && (json.Unmarshal(raw, &t) != nil || t.Budget >= output) {
		delete(fields, "thinking")
	}
}

// anthropicHost asks for its list of models as it does for messages; its chat completions are as everywhere.
const anthropicHost = "api.anthropic.com"

// authorize puts the key where the API looks for it.
func (u *upstream) authorize(h http.Header, path string) {
	if path == pathMessages || path == pathModels && u.base.Hostname() == anthropicHost {
		h.Set("Anthropic-Version", anthropicVersion)
		if !u.Key.Empty() {
			h.Set("X-Api-Key", u.Key.s)
		}
		return
	}
	if !u.Key.Empty() {
		h.Set("Authorization", "Bearer "+u.Key.s)
	}
}

// messageWire is what an answer of the messages API, or an event of its stream, says beside model and usage.
type messageWire struct {
	Kind       string          `json:"type"`
	Message    json.RawMessage `json:"message"`
	Delta      json.RawMessage `json:"delta"`
	StopReason string          `json:"stop_reason"`
}

// begin takes model and usage out of the event that begins a stream. Its count of output is not final.
func (a *answerWire) begin() {
	if a.Kind != "message_start" {
		return
	}
	var m responseWire
	if json.Unmarshal(a.Message, &m) != nil {
		return
	}
	a.Model, a.Usage = m.Model, m.Usage
	if a.Usage != nil {
		a.Usage.OutputTokens = nil
	}
}

// stopped is why an answer ended; empty when it did not, or another API says so.
func (a *answerWire) stopped() string {
	switch a.Kind {
	case "message":
		return a.StopReason
	case "message_delta":
		var d messageWire
		if json.Unmarshal(a.Delta, &d) == nil {
			return d.StopReason
		}
	}
	return ""
}
