package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func speak(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+pathMessages, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestMessagesValidation(t *testing.T) {
	s := start(t, Script{Key: "k"})
	with := func(more string) string {
		return `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"x"}],` + more + `}`
	}
	for _, c := range []struct{ rule, body, want string }{
		{"a model is named", `{"max_tokens":9,"messages":[{"role":"user","content":"x"}]}`, "model: field required"},
		{"an answer has a limit", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens: field required"},
		{"something is said", `{"model":"m","max_tokens":9,"messages":[]}`, "at least one message"},
		{"betas need their header", with(`"context_management":{}`), "extra inputs are not permitted"},
		{"thought fits into the answer", with(`"thinking":{"type":"enabled","budget_tokens":100}`), "greater than thinking.budget_tokens"},
		{"roles are two", `{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"x"}]}`, "'user' or 'assistant'"},
		{"a text is not empty", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "non-empty"},
		{"a result answers a call", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}`, "unexpected tool_use_id"},
		{"blocks are known", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"video"}]}]}`, "does not match"},
		{"a tool has a schema", with(`"tools":[{"name":"f"}]`), "input_schema"},
	} {
		if status, body := speak(t, s, c.body); status != http.StatusBadRequest || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want 400 with %q", c.rule, status, body, c.want)
		}
	}
}

func TestMessagesWholeAndStreamed(t *testing.T) {
	s := start(t, Script{Key: "k", Rules: []Rule{
		{Role: "tool", Contains: "3 files", Answer: Answer{Text: "that is all", Usage: &Usage{Input: 9, Cached: 3, Output: 4}}},
		{Role: "system", Contains: "be brief", Answer: Answer{Text: "looking", ToolCalls: []ToolCall{{ID: "c1", Name: "list", Arguments: `{"path":"."}`}}}},
	}})
	for _, stream := range []string{"false", "true"} {
		status, first := speak(t, s, `{"model":"m","max_tokens":9,"stream":`+stream+`,"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"go"}]}`)
		if status != http.StatusOK || !strings.Contains(first, `"id":"c1"`) || !strings.Contains(first, "looking") || !strings.Contains(first, `"stop_reason":"tool_use"`) {
			t.Errorf("stream %s: %d %s", stream, status, first)
		}
		status, last := speak(t, s, `{"model":"m","max_tokens":9,"stream":`+stream+`,"messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"list","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"3 files"}]}]}`)
		if status != http.StatusOK || !strings.Contains(last, "that is all") || !strings.Contains(last, `"input_tokens":6`) || !strings.Contains(last, `"output_tokens":4`) {
			t.Errorf("stream %s: %d %s", stream, status, last)
		}
		if stream == "true" && !strings.HasSuffix(last, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") {
			t.Errorf("the stream ends with %q", last[max(0, len(last)-80):])
		}
		if stream == "false" && !json.Valid([]byte(last)) {
			t.Errorf("no JSON: %s", last)
		}
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}
