package fakemodel

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func post(t *testing.T, s *Server, key, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func ask(text string) string {
	b, _ := json.Marshal(map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": text}}})
	return string(b)
}

func TestValidation(t *testing.T) {
	s := start(t, Script{Key: "k"})
	schema := func(strict string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + strict + `}}}`
	}
	for _, c := range []struct{ rule, body, want string }{
		{"the body is JSON", `{`, "could not parse"},
		{"a model is named", `{"messages":[{"role":"user","content":"x"}]}`, "model parameter"},
		{"there is a message", `{"model":"m","messages":[]}`, "at least one"},
		{"roles are known", `{"model":"m","messages":[{"role":"boss","content":"x"}]}`, "not one of"},
		{"a user says something", `{"model":"m","messages":[{"role":"user"}]}`, "expected text"},
		{"a tool answers a call", `{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":"x"}]}`, "answers no call"},
		{"parameters are known", `{"model":"m","messages":[{"role":"user","content":"x"}],"temprature":1}`, "unrecognized"},
		{"stream options need a stream", `{"model":"m","messages":[{"role":"user","content":"x"}],"stream_options":{}}`, "stream_options"},
		{"reasoning models refuse max_tokens", `{"model":"o3","messages":[{"role":"user","content":"x"}],"max_tokens":5}`, "max_completion_tokens"},
		{"plain JSON mode needs the word", `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`, "word 'json'"},
		{"a strict schema is an object", schema(`{"type":"array","items":{"type":"string"}}`), "type 'object'"},
		{"a strict object is closed", schema(`{"type":"object","properties":{},"required":[]}`), "additionalProperties"},
		{"every strict property is required", schema(`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`), "Missing 'a'"},
		{"nested strict objects too", schema(`{"type":"object","properties":{"a":{"type":["array","null"],"items":{"type":"object","properties":{"b":{"type":"string"}},"required":[],"additionalProperties":false}}},"required":["a"],"additionalProperties":false}`), "Missing 'b'"},
		{"oneOf is not supported", schema(`{"type":"object","properties":{"a":{"oneOf":[]}},"required":["a"],"additionalProperties":false}`), "oneOf"},
		{"a directive must parse", ask("[[fakemodel: {oops]]"), "directive"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			status, body, err := post(t, s, "k", c.body)
			if err != nil || status != http.StatusBadRequest || !strings.Contains(body, c.want) {
				t.Errorf("%d %s %v, want 400 with %q", status, body, err, c.want)
			}
		})
	}
	if n := len(s.Faults()); n != 16 {
		t.Errorf("%d faults recorded", n)
	}
}

func TestKeyIsRequired(t *testing.T) {
	s := start(t, Script{Key: "right"})
	if status, body, _ := post(t, s, "wrong", ask("x")); status != http.StatusUnauthorized || !strings.Contains(body, "invalid_api_key") {
		t.Errorf("%d %s", status, body)
	}
	if len(s.Requests()) != 0 {
		t.Error("a caller without the key was heard")
	}
}

func TestScript(t *testing.T) {
	s := start(t, Script{
		Rules: []Rule{
			{Contains: "once", Times: 1, Answer: Answer{Text: "first"}},
			{Matches: `on(c)e$`, Answer: Answer{Text: "again"}},
			{Role: "system", Contains: "x", Answer: Answer{Text: "never: nobody is system"}},
			{Model: "other", Answer: Answer{Text: "never: another model"}},
			{Call: 4, Answer: Answer{JSON: json.RawMessage(`{"a":1}`), Usage: &Usage{Input: 7, Cached: 3, Output: 2}}},
		},
		Default: &Answer{Text: "default"},
	})
	for i, c := range []struct{ text, want string }{
		{"once", `"content":"first"`},
		{"once", `"content":"again"`},
		{"x", `"content":"default"`},
		{"x", `"content":"{\"a\":1}"`},
		{`please [[fakemodel: {"text":"steered","finish":"length"}]] thanks`, `"finish_reason":"length"`},
		{`[[fakemodel: {"toolCalls":[{"name":"read_file","arguments":"{}"}]}]]`, `"finish_reason":"tool_calls"`},
		{`[[fakemodel: {"raw":"<html>"}]]`, `<html>`},
		{`[[fakemodel: {"status":429,"retryAfter":"1"}]]`, `scripted_error`},
		{`[[fakemodel: {"text":"ab","repeat":1000}]]`, strings.Repeat("ab", 1000)},
	} {
		_, body, err := post(t, s, "k", ask(c.text))
		if err != nil || !strings.Contains(body, c.want) {
			t.Errorf("call %d: %.300s %v, want %.100s", i+1, body, err, c.want)
		}
		if i == 3 && !strings.Contains(body, `"prompt_tokens_details":{"cached_tokens":3}`) {
			t.Error("usage is not as scripted:", body)
		}
	}
	for _, d := range []string{"before", "middle"} {
		if _, _, err := post(t, s, "k", ask(`[[fakemodel: {"text":"long enough","drop":"`+d+`"}]]`)); err == nil {
			t.Errorf("drop %s: the connection was not cut", d)
		}
	}
}

func TestStream(t *testing.T) {
	s := start(t, Script{Default: &Answer{Text: strings.Repeat("word ", 30), ToolCalls: []ToolCall{{Name: "f", Arguments: "{}"}}}})
	_, body, err := post(t, s, "k", `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	usage, done, tools := false, false, 0
	for sc := bufio.NewScanner(strings.NewReader(body)); sc.Scan(); {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content   string            `json:"content"`
					ToolCalls []json.RawMessage `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
			Usage *struct{} `json:"usage"`
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatal(err)
		}
		usage = usage || c.Usage != nil
		for _, ch := range c.Choices {
			text.WriteString(ch.Delta.Content)
			tools += len(ch.Delta.ToolCalls)
		}
	}
	if text.String() != strings.Repeat("word ", 30) || !usage || !done || tools != 1 {
		t.Errorf("text %q usage %v done %v tools %d", text.String(), usage, done, tools)
	}
}

func TestEndlessStopsWithTheCaller(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		s := start(t, Script{Default: &Answer{Endless: true}})
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":`+stream+`}`))
		req.Header.Set("Authorization", "Bearer k")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.CopyN(io.Discard, resp.Body, 1<<20); n != 1<<20 {
			t.Errorf("only %d bytes came: %v", n, err)
		}
		_ = resp.Body.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCachedTokensFollowTheCommonPrefix(t *testing.T) {
	s := start(t, Script{})
	long := strings.Repeat("same for everybody ", 600)
	_, first, _ := post(t, s, "k", ask(long+"one"))
	_, second, _ := post(t, s, "k", ask(long+"two"))
	_, third, _ := post(t, s, "k", ask("other "+long))
	if !strings.Contains(first, `"cached_tokens":0`) || strings.Contains(second, `"cached_tokens":0`) || !strings.Contains(third, `"cached_tokens":0`) {
		t.Errorf("cached: %s\n%s\n%s", first, second, third)
	}
}

func TestLoadScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(path, []byte(`{"rules":[{"contain":"typo"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadScript(path); err == nil || !strings.Contains(err.Error(), "contain") {
		t.Errorf("a misspelt field passed: %v", err)
	}
	if _, err := New(Script{Rules: []Rule{{Name: "r", Matches: "("}}}); err == nil {
		t.Error("a broken pattern passed")
	}
}

func TestListAndPathsMisbehaveOnDemand(t *testing.T) {
	get := func(s *Server, path string) (int, string, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(s.URL(), "/v1")+path, nil)
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
		return resp.StatusCode, resp.Header.Get("Content-Type"), string(data)
	}
	s := start(t, Script{Versioned: true, Models: []string{"m"}})
	if status, kind, body := get(s, "/models"); status != http.StatusOK || !strings.HasPrefix(kind, "text/html") || body != Page {
		t.Errorf("outside the API: %d %s %s", status, kind, body)
	}
	if status, kind, body := get(s, "/v1/models"); status != http.StatusOK || kind != "application/json" || !strings.Contains(body, `"m"`) {
		t.Errorf("inside: %d %s %s", status, kind, body)
	}
	s = start(t, Script{List: &Answer{Status: http.StatusTooManyRequests, Message: "slower", RetryAfter: "7"}})
	if status, _, body := get(s, "/v1/models"); status != http.StatusTooManyRequests || !strings.Contains(body, "slower") {
		t.Errorf("the list: %d %s", status, body)
	}
	s = start(t, Script{Models: []string{"m"}, Default: &Answer{Status: 502, Raw: Page, Headers: map[string]string{"Content-Type": "text/html"}}})
	if status, body, err := post(t, s, "k", ask("x")); status != http.StatusBadGateway || body != Page || err != nil {
		t.Errorf("a page as an error: %d %s %v", status, body, err)
	}
	if status, body, err := post(t, s, "k", strings.Replace(ask("x"), `"m"`, `"n"`, 1)); status != http.StatusNotFound || !strings.Contains(body, "model_not_found") || err != nil {
		t.Errorf("an unknown model: %d %s %v", status, body, err)
	}
}
