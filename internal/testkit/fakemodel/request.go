package fakemodel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Request is one call the server received, remembered for assertions.
type Request struct {
	// Call is the sequence number among completions, from 1.
	Call     int
	Path     string
	Model    string
	Stream   bool
	Messages []Message
	// Authorization and Header are what the caller sent; Body is the raw JSON.
	Authorization string
	Header        map[string][]string
	Body          []byte
	// Schema is the response format's JSON Schema, nil without one; Format its type.
	Schema json.RawMessage
	Format string
	Tools  []string
	// Tokens is the rough size of the prompt, Cached how much of its beginning an earlier request had.
	Tokens, Cached int
	// Refused is why the request was answered 400, empty when it was well-formed.
	Refused string

	includeUsage bool
	// tools are the tools as they were sent; a prompt begins with them.
	tools []byte
	// api is the path below the base URL.
	api string
}

// Message is one message of a conversation, its parts joined.
type Message struct {
	Role string
	Text string
}

// parameters are those chat completions know; the real API refuses any other.
var parameters = []string{
	"model", "messages", "stream", "stream_options", "temperature", "top_p", "n", "stop", "max_tokens",
	"max_completion_tokens", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user",
	"seed", "tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort", "verbosity", "metadata",
	"store", "service_tier", "prediction", "safety_identifier", "prompt_cache_key", "functions", "function_call",
	"modalities", "audio", "web_search_options",
}

type wireRequest struct {
	Model         string            `json:"model"`
	Messages      []json.RawMessage `json:"messages"`
	Stream        bool              `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature    *float64 `json:"temperature"`
	MaxTokens      *int     `json:"max_tokens"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Tools []struct {
		Type     string `json:"type"`
		Function *struct {
			Name       string          `json:"name"`
			Strict     bool            `json:"strict"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

var (
	name      = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)
	reasoning = lazyregexp.New(`^(o[134]|gpt-5)`)
)

// parse reads a chat completion request into r and reports the first thing the real API would refuse.
func (r *Request) parse() error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Body, &fields); err != nil {
		return fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	for f := range fields {
		if !slices.Contains(parameters, f) {
			return fmt.Errorf("unrecognized request argument supplied: %s", f)
		}
	}
	var w wireRequest
	if err := json.Unmarshal(r.Body, &w); err != nil {
		return err
	}
	r.Model, r.Stream = w.Model, w.Stream
	if w.Model == "" {
		return fmt.Errorf("you must provide a model parameter")
	}
	if err := r.parseMessages(w.Messages); err != nil {
		return err
	}
	switch {
	case w.StreamOptions != nil && !w.Stream:
		return fmt.Errorf("stream_options is only allowed when stream is enabled")
	case w.Temperature != nil && (*w.Temperature < 0 || *w.Temperature > 2):
		return fmt.Errorf("temperature %v is not between 0 and 2", *w.Temperature)
	case reasoning.MatchString(w.Model) && w.MaxTokens != nil:
		return fmt.Errorf("unsupported parameter: max_tokens is not supported with this model, use max_completion_tokens")
	case reasoning.MatchString(w.Model) && w.Temperature != nil && *w.Temperature != 1:
		return fmt.Errorf("unsupported value: temperature does not support %v with this model", *w.Temperature)
	}
	r.includeUsage = w.StreamOptions != nil && w.StreamOptions.IncludeUsage
	if err := r.parseTools(w); err != nil {
		return err
	}
	return r.parseFormat(w)
}

func (r *Request) parseMessages(raw []json.RawMessage) error {
	if len(raw) == 0 {
		return fmt.Errorf("messages: expected at least one")
	}
	asked := map[string]bool{}
	for i, m := range raw {
		var w struct {
			Role       string          `json:"role"`
			Content    json.RawMessage `json:"content"`
			ToolCallID string          `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Type     string `json:"type"`
				Function struct {
					Name string `json:"name"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(m, &w); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		text, err := contentText(w.Content)
		if err != nil {
			return fmt.Errorf("messages[%d].content: %w", i, err)
		}
		r.Messages = append(r.Messages, Message{w.Role, text})
		switch w.Role {
		case "system", "developer", "user":
			if text == "" {
				return fmt.Errorf("messages[%d].content: expected text", i)
			}
		case "assistant":
			if text == "" && len(w.ToolCalls) == 0 {
				return fmt.Errorf("messages[%d]: an assistant message needs content or tool_calls", i)
			}
			for _, c := range w.ToolCalls {
				if c.ID == "" || c.Function.Name == "" {
					return fmt.Errorf("messages[%d].tool_calls: id and function.name are required", i)
				}
				asked[c.ID] = true
			}
		case "tool":
			if !asked[w.ToolCallID] {
				return fmt.Errorf("messages[%d]: tool_call_id %q answers no call before it", i, w.ToolCallID)
			}
		default:
			return fmt.Errorf("messages[%d].role: %q is not one of system, developer, user, assistant, tool", i, w.Role)
		}
	}
	return nil
}

func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", fmt.Errorf("expected a string or an array of parts")
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "" {
			return "", fmt.Errorf("a part has no type")
		}
		b.WriteString(p.Text)
	}
	return b.String(), nil
}

func (r *Request) parseTools(w wireRequest) error {
	for i, t := range w.Tools {
		if t.Type != "function" || t.Function == nil || !name.MatchString(t.Function.Name) {
			return fmt.Errorf("tools[%d]: expected a function with a valid name", i)
		}
		r.Tools = append(r.Tools, t.Function.Name)
		if t.Function.Strict {
			if err := strictSchema(t.Function.Parameters); err != nil {
				return fmt.Errorf("tools[%d].function.parameters: %w", i, err)
			}
		}
	}
	return nil
}

func (r *Request) parseFormat(w wireRequest) error {
	f := w.ResponseFormat
	if f == nil {
		return nil
	}
	r.Format = f.Type
	switch f.Type {
	case "text":
		return nil
	case "json_object":
		for _, m := range r.Messages {
			if strings.Contains(strings.ToLower(m.Text), "json") {
				return nil
			}
		}
		return fmt.Errorf("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'")
	case "json_schema":
		if f.JSONSchema == nil || !name.MatchString(f.JSONSchema.Name) || len(f.JSONSchema.Schema) == 0 {
			return fmt.Errorf("response_format.json_schema: expected a valid name and a schema")
		}
		r.Schema = f.JSONSchema.Schema
		if !f.JSONSchema.Strict {
			return nil
		}
		if err := strictSchema(f.JSONSchema.Schema); err != nil {
			return fmt.Errorf("invalid schema for response_format %q: %w", f.JSONSchema.Name, err)
		}
		return nil
	}
	return fmt.Errorf("response_format.type: %q is not one of text, json_object, json_schema", f.Type)
}
