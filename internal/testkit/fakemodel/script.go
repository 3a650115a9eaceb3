package fakemodel

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// Script says what the server answers.
type Script struct {
	// Key is the bearer key a caller must present; empty accepts every non-empty one.
	Key string `json:"key,omitempty"`
	// Models are those the list of models names and requests may ask for; empty accepts every name.
	Models []string `json:"models,omitempty"`
	// Open lists the models also to who has no key, or a wrong one.
	Open bool `json:"open,omitempty"`
	// List answers the question for the list of models instead: its status, headers, message or Raw.
	List *Answer `json:"list,omitempty"`
	// Versioned serves paths below /v1 alone; to every other it answers a page of HTML.
	Versioned bool `json:"versioned,omitempty"`
	// Rules are tried in order; the first that matches answers.
	Rules []Rule `json:"rules,omitempty"`
	// Respond, when set, is asked before the rules; false leaves the answer to them. It is called by one request at a time.
	Respond func(Request) (Answer, bool) `json:"-"`
	// Default answers when neither a rule nor a directive does; nil answers a short text.
	Default *Answer `json:"default,omitempty"`
}

// Rule chooses an answer. All conditions that are set must hold.
type Rule struct {
	// Name is for failure messages.
	Name string `json:"name,omitempty"`
	// Contains must stand in a message, Matches (a regular expression) must match one; Role narrows both to its messages.
	Contains string `json:"contains,omitempty"`
	Matches  string `json:"matches,omitempty"`
	Role     string `json:"role,omitempty"`
	// Last narrows Contains and Matches to the last message.
	Last bool `json:"last,omitempty"`
	// Model is the requested model.
	Model string `json:"model,omitempty"`
	// Call is the sequence number of the request, from 1; 0 is any.
	Call int `json:"call,omitempty"`
	// Times is how often the rule answers; 0 is without limit.
	Times  int    `json:"times,omitempty"`
	Answer Answer `json:"answer"`

	pattern *regexp.Regexp
	used    int
}

// Answer is one reply. The zero value is an empty text.
type Answer struct {
	// Text is the reply; JSON, when set, is replied as text instead.
	Text string          `json:"text,omitempty"`
	JSON json.RawMessage `json:"json,omitempty"`
	// ToolCalls are asked for beside the text.
	ToolCalls []ToolCall `json:"toolCalls,omitempty"`
	// Finish is the finish reason; empty is stop, or tool_calls when there are some.
	Finish string `json:"finish,omitempty"`
	// Refusal is the model's own refusal.
	Refusal string `json:"refusal,omitempty"`
	// Usage replaces the counted usage; NoUsage leaves it out.
	Usage   *Usage `json:"usage,omitempty"`
	NoUsage bool   `json:"noUsage,omitempty"`
	// DelayMillis passes before the answer starts.
	DelayMillis int `json:"delayMillis,omitempty"`
	// Status, when set and not 200, answers an error with Code and Message; RetryAfter is its header.
	Status     int    `json:"status,omitempty"`
	Code       string `json:"code,omitempty"`
	Message    string `json:"message,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	// Headers are sent with an error and with Raw, such as those that say when a limit is reset.
	Headers map[string]string `json:"headers,omitempty"`
	// Drop closes the connection: "before" anything is sent, or in the "middle" of the answer.
	Drop string `json:"drop,omitempty"`
	// Raw is sent as the whole body, for replies that are not JSON at all. Headers may give its type.
	Raw string `json:"raw,omitempty"`
	// Repeat sends Text that many times over, for answers far too long.
	Repeat int `json:"repeat,omitempty"`
	// Endless never stops sending; the caller has to.
	Endless bool `json:"endless,omitempty"`
	// PaceMillis passes before each piece of a streamed answer, of which each has PieceRunes characters, by default 40. Before the
	// first come KeepAlives comments at the same pace, then Reasoning as pieces of what the model thinks (chat completions only).
	// After Stall pieces nothing more is sent and the connection stays open; 0 is never.
	PaceMillis int    `json:"paceMillis,omitempty"`
	PieceRunes int    `json:"pieceRunes,omitempty"`
	KeepAlives int    `json:"keepAlives,omitempty"`
	Reasoning  string `json:"reasoning,omitempty"`
	Stall      int    `json:"stall,omitempty"`
	// Whole answers in one piece, although a stream was asked for, as servers do that know none.
	Whole bool `json:"whole,omitempty"`
	// Hang sends nothing and keeps the connection open; the caller has to give up.
	Hang bool `json:"hang,omitempty"`
}

// ToolCall is one call the model asks for. Arguments is JSON as text, as the API has it.
type ToolCall struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Usage is what a reply says it cost, in tokens.
type Usage struct {
	Input  int `json:"input"`
	Cached int `json:"cached"`
	Output int `json:"output"`
	// CostUSD is reported when set, as some providers do.
	CostUSD *float64 `json:"costUsd,omitempty"`
}

// LoadScript reads a script from a JSON file; unknown fields are an error.
func LoadScript(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read script %s: %w", path, err)
	}
	return s, nil
}

func (s *Script) compile() error {
	rules := make([]Rule, len(s.Rules))
	copy(rules, s.Rules)
	s.Rules = rules
	for i := range rules {
		if rules[i].Matches == "" {
			continue
		}
		p, err := regexp.Compile(rules[i].Matches)
		if err != nil {
			return fmt.Errorf("rule %d %s: %w", i+1, rules[i].Name, err)
		}
		rules[i].pattern = p
	}
	return nil
}

// choose picks the answer; the caller holds the lock.
func (s *Script) choose(r Request) (Answer, error) {
	if s.Respond != nil {
		if a, ok := s.Respond(r); ok {
			return a, nil
		}
	}
	for i := range s.Rules {
		rule := &s.Rules[i]
		if rule.Times > 0 && rule.used >= rule.Times || !rule.matches(r) {
			continue
		}
		rule.used++
		return rule.Answer, nil
	}
	if a, ok, err := directive(r.Messages); ok || err != nil {
		return a, err
	}
	if s.Default != nil {
		return *s.Default, nil
	}
	return Answer{Text: "fakemodel has nothing to say"}, nil
}

func (r *Rule) matches(q Request) bool {
	if r.Model != "" && r.Model != q.Model || r.Call != 0 && r.Call != q.Call {
		return false
	}
	if r.Contains == "" && r.pattern == nil && r.Role == "" {
		return true
	}
	for i, m := range q.Messages {
		if r.Role != "" && m.Role != r.Role || r.Last && i != len(q.Messages)-1 {
			continue
		}
		if strings.Contains(m.Text, r.Contains) && (r.pattern == nil || r.pattern.MatchString(m.Text)) {
			return true
		}
	}
	return false
}

const directiveStart = "[[fakemodel:"

// directive finds the last directive of a conversation.
func directive(messages []Message) (Answer, bool, error) {
	for i := len(messages) - 1; i >= 0; i-- {
		at := strings.LastIndex(messages[i].Text, directiveStart)
		if at < 0 {
			continue
		}
		var a Answer
		err := json.NewDecoder(strings.NewReader(messages[i].Text[at+len(directiveStart):])).Decode(&a)
		if err != nil {
			return a, false, fmt.Errorf("directive: %w", err)
		}
		return a, true, nil
	}
	return Answer{}, false, nil
}

func (a Answer) text() string {
	t := a.Text
	if a.JSON != nil {
		t = string(a.JSON)
	}
	if a.Repeat > 1 {
		t = strings.Repeat(t, a.Repeat)
	}
	return t
}

func (a Answer) finish() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (a Answer) delay() time.Duration { return time.Duration(a.DelayMillis) * time.Millisecond }
