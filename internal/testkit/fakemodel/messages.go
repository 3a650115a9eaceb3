package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// pathMessages is where the Anthropic Messages API is served, below the base URL.
const pathMessages = "/messages"

// messageParameters are those the Messages API knows without a beta header; the real API refuses any other.
var messageParameters = []string{
	"model", "messages", "system", "max_tokens", "stream", "tools", "tool_choice", "metadata", "stop_sequences", "temperature",
	"top_p", "top_k", "thinking", "service_tier", "output_config",
}

// messageWire is what is read of a request to the Messages API.
type messageWire struct {
	Model     string          `json:"model"`
	MaxTokens *int            `json:"max_tokens"`
	System    json.RawMessage `json:"system"`
	Stream    bool            `json:"stream"`
	Messages  []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Thinking struct {
		Budget int `json:"budget_tokens"`
	} `json:"thinking"`
}

// parseMessage reads a request to the Messages API and reports the first thing the real API would refuse. The system prompt
// becomes a message of the role system, results of tools one of the role tool.
func (r *Request) parseMessage() error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &fields); err != nil {
		return fmt.Errorf("the request body is not valid JSON: %w", err)
	}
	for f := range fields {
		if !slices.Contains(messageParameters, f) {
			return fmt.Errorf("%s: extra inputs are not permitted", f)
		}
	}
	var w messageWire
	if err := json.Unmarshal(r.Body, &w); err != nil {
		return err
	}
	r.Model, r.Stream = w.Model, w.Stream
	switch {
	case r.header("anthropic-version") == "":
		return fmt.Errorf("anthropic-version: header is required")
	case w.Model == "":
		return fmt.Errorf("model: field required")
	case w.MaxTokens == nil || *w.MaxTokens < 1:
		return fmt.Errorf("max_tokens: field required")
	case w.Thinking.Budget >= *w.MaxTokens:
		return fmt.Errorf("max_tokens must be greater than thinking.budget_tokens")
	case len(w.Messages) == 0:
		return fmt.Errorf("messages: at least one message is required")
	}
	system, err := contentText(w.System)
	if err != nil {
		return fmt.Errorf("system: %w", err)
	}
	if system != "" {
		r.Messages = append(r.Messages, Message{"system", system})
	}
	called := map[string]bool{}
	for i, m := range w.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("messages.%d.role: input should be 'user' or 'assistant'", i)
		}
		if err := r.parseBlocks(m.Role, m.Content, called); err != nil {
			return fmt.Errorf("messages.%d.content: %w", i, err)
		}
	}
	for i, t := range w.Tools {
		if !name.MatchString(t.Name) || t.Type == "" && len(t.Schema) == 0 {
			return fmt.Errorf("tools.%d: expected a valid name and an input_schema", i)
		}
		r.Tools = append(r.Tools, t.Name)
	}
	return nil
}

func (r *Request) header(name string) string { return http.Header(r.Header).Get(name) }

// parseBlocks reads the content of one message: a text, or blocks.
func (r *Request) parseBlocks(role string, raw json.RawMessage, called map[string]bool) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		r.Messages = append(r.Messages, Message{role, text})
		return nil
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		ToolID  string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil || len(blocks) == 0 {
		return fmt.Errorf("expected a text or at least one block")
	}
	var said strings.Builder
	for k, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text == "" {
				return fmt.Errorf("%d: text content blocks must be non-empty", k)
			}
			said.WriteString(b.Text)
		case "tool_use":
			if role != "assistant" || b.ID == "" || b.Name == "" {
				return fmt.Errorf("%d: a tool_use is an assistant's, with id and name", k)
			}
			called[b.ID] = true
		case "tool_result":
			if !called[b.ToolID] {
				return fmt.Errorf("%d: unexpected tool_use_id found in tool_result blocks: %s", k, b.ToolID)
			}
			text, err := contentText(b.Content)
			if err != nil {
				return fmt.Errorf("%d.content: %w", k, err)
			}
			r.Messages = append(r.Messages, Message{"tool", text})
		case "image", "document", "thinking", "redacted_thinking":
		default:
			return fmt.Errorf("%d: input tag %q does not match any of the expected tags", k, b.Type)
		}
	}
	if said.Len() > 0 {
		r.Messages = append(r.Messages, Message{role, said.String()})
	}
	return nil
}
