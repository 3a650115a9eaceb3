package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// pathResponses is where the Responses API is served, below the base URL.
const pathResponses = "/responses"

// responseParameters are those the Responses API knows; the real API refuses any other.
var responseParameters = []string{
	"model", "input", "instructions", "stream", "stream_options", "temperature", "top_p", "max_output_tokens", "max_tool_calls",
	"tools", "tool_choice", "parallel_tool_calls", "text", "reasoning", "include", "store", "metadata", "user", "truncation",
	"service_tier", "background", "conversation", "previous_response_id", "prompt", "prompt_cache_key", "safety_identifier",
	"top_logprobs", "client_metadata",
}

// responseWire is what is read of a request to the Responses API.
type responseWire struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Stream       bool            `json:"stream"`
	MaxOutput    *int            `json:"max_output_tokens"`
	Tools        []struct {
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Strict     bool            `json:"strict"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Text struct {
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

// responseItem is one item of the input.
type responseItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Output  json.RawMessage `json:"output"`
}

// parseResponse reads a request to the Responses API and reports the first thing the real API would refuse. Instructions
// become a message of the role system, results of tools one of the role tool.
func (r *Request) parseResponse() error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &fields); err != nil {
		return fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	for f := range fields {
		if !slices.Contains(responseParameters, f) {
			return fmt.Errorf("unknown parameter: %s", f)
		}
	}
	var w responseWire
	if err := json.Unmarshal(r.Body, &w); err != nil {
		return err
	}
	r.Model, r.Stream = w.Model, w.Stream
	switch {
	case w.Model == "":
		return fmt.Errorf("missing required parameter: model")
	case w.MaxOutput != nil && *w.MaxOutput < 16:
		return fmt.Errorf("max_output_tokens: %d is below the minimum of 16", *w.MaxOutput)
	}
	if w.Instructions != "" {
		r.Messages = append(r.Messages, Message{"system", w.Instructions})
	}
	if err := r.parseInput(w.Input); err != nil {
		return err
	}
	for i, t := range w.Tools {
		if t.Type != "function" && t.Type != "custom" {
			r.Tools = append(r.Tools, t.Type) // one the provider runs has no name
			continue
		}
		if !name.MatchString(t.Name) {
			return fmt.Errorf("tools[%d].name: expected a valid name", i)
		}
		if t.Strict {
			if err := strictSchema(t.Parameters); err != nil {
				return fmt.Errorf("tools[%d].parameters: %w", i, err)
			}
		}
		r.Tools = append(r.Tools, t.Name)
	}
	if f := w.Text.Format; f != nil {
		r.Format, r.Schema = f.Type, f.Schema
	}
	return nil
}

// parseInput reads the conversation: one text, or a list of items.
func (r *Request) parseInput(raw json.RawMessage) error {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		r.Messages = append(r.Messages, Message{"user", text})
		return nil
	}
	var items []responseItem
	if json.Unmarshal(raw, &items) != nil || len(items) == 0 {
		return fmt.Errorf("input: expected a text or at least one item")
	}
	asked := map[string]bool{}
	for i, it := range items {
		switch it.Type {
		case "message", "":
			text, err := contentText(it.Content)
			if err != nil {
				return fmt.Errorf("input[%d].content: %w", i, err)
			}
			if !slices.Contains([]string{"user", "system", "developer", "assistant"}, it.Role) {
				return fmt.Errorf("input[%d].role: %q is not one of user, system, developer, assistant", i, it.Role)
			}
			r.Messages = append(r.Messages, Message{it.Role, text})
		case "function_call", "custom_tool_call":
			if it.CallID == "" || it.Name == "" {
				return fmt.Errorf("input[%d]: call_id and name are required", i)
			}
			asked[it.CallID] = true
		case "function_call_output", "custom_tool_call_output":
			if !asked[it.CallID] {
				return fmt.Errorf("no tool call found for function call output with call_id %s", it.CallID)
			}
			text, err := contentText(it.Output)
			if err != nil {
				return fmt.Errorf("input[%d].output: %w", i, err)
			}
			r.Messages = append(r.Messages, Message{"tool", text})
		case "reasoning":
		default:
			return fmt.Errorf("input[%d].type: %q is not known", i, it.Type)
		}
	}
	if !slices.ContainsFunc(r.Messages, func(m Message) bool { return strings.TrimSpace(m.Text) != "" }) {
		return fmt.Errorf("input: nothing is said")
	}
	return nil
}
