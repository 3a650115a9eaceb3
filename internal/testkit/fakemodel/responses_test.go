package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func respond(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+pathResponses, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k")
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

func TestResponsesValidation(t *testing.T) {
	s := start(t, Script{Key: "k"})
	for _, c := range []struct{ rule, body, want string }{
		{"a model is named", `{"input":"x"}`, "parameter: model"},
		{"something is said", `{"model":"m","input":[]}`, "at least one item"},
		{"an empty text says nothing", `{"model":"m","input":[{"role":"user","content":" "}]}`, "nothing is said"},
		{"parameters are those of this API", `{"model":"m","input":"x","messages":[]}`, "unknown parameter: messages"},
		{"an answer has room for 16 tokens", `{"model":"m","input":"x","max_output_tokens":8}`, "minimum of 16"},
		{"roles are known", `{"model":"m","input":[{"role":"tool","content":"x"}]}`, "not one of"},
		{"items are known", `{"model":"m","input":[{"type":"additional_tools"}]}`, "not known"},
		{"an output answers a call", `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`, "no tool call found"},
		{"a tool has a name", `{"model":"m","input":"x","tools":[{"type":"function"}]}`, "valid name"},
		{"a strict tool has a strict schema", `{"model":"m","input":"x","tools":[{"type":"function","name":"f","strict":true,"parameters":{"type":"object","properties":{}}}]}`, "additionalProperties"},
	} {
		if status, body := respond(t, s, c.body); status != http.StatusBadRequest || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s, want 400 with %q", c.rule, status, body, c.want)
		}
	}
}

func TestResponsesWholeAndStreamed(t *testing.T) {
	s := start(t, Script{Key: "k", Rules: []Rule{
		{Role: "tool", Contains: "3 files", Answer: Answer{Text: "that is all", Usage: &Usage{Input: 9, Cached: 3, Output: 4}}},
		{Role: "system", Contains: "be brief", Answer: Answer{Text: "looking", ToolCalls: []ToolCall{{ID: "c1", Name: "list", Arguments: `{"path":"."}`}}}},
	}})
	for _, stream := range []string{"false", "true"} {
		status, first := respond(t, s, `{"model":"m","stream":`+stream+`,"instructions":"be brief","input":"go"}`)
		if status != http.StatusOK || !strings.Contains(first, `"call_id":"c1"`) || !strings.Contains(first, `"type":"output_text"`) {
			t.Errorf("stream %s: %d %s", stream, status, first)
		}
		status, last := respond(t, s, `{"model":"m","stream":`+stream+`,"input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"function_call","call_id":"c1","name":"list","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"3 files"}]}`)
		if i := strings.LastIndex(last, "\ndata: "); i >= 0 {
			last = last[i+len("\ndata: "):]
		}
		var e struct {
			Response json.RawMessage `json:"response"`
		}
		if stream == "false" {
			e.Response = json.RawMessage(last)
		} else if err := json.Unmarshal([]byte(last), &e); err != nil {
			t.Fatal(err)
		}
		var r struct {
			Status string `json:"status"`
			Output []struct {
				Content []struct{ Text string }
			} `json:"output"`
			Usage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(e.Response, &r); err != nil || status != http.StatusOK || r.Status != "completed" ||
			r.Output[0].Content[0].Text != "that is all" || r.Usage.Input != 9 || r.Usage.Output != 4 {
			t.Errorf("stream %s: %d %v %s", stream, status, err, last)
		}
	}
	if faults := s.Faults(); len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
}
