package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// message asks over the Messages API, with the token where its clients put it.
func (r *rig) message(fields map[string]any) (int, string, error) {
	r.t.Helper()
	all := map[string]any{"model": "claude-x", "max_tokens": 100, "messages": []any{map[string]any{"role": "user", "content": "x"}}, "tools": []any{
		map[string]any{"name": "look", "input_schema": map[string]any{"type": "object"}}}}
	for name, v := range fields {
		all[name] = v
	}
	body, _ := json.Marshal(all)
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://gateway/v1/messages?beta=true", strings.NewReader(string(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", r.token)
	req.Header.Set("Anthropic-Beta", "everything")
	resp, err := r.client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// claudePrice makes the figures below add up: 1000 tokens in, 400 of them cached, 50 out.
var claudePrice = map[string]Price{"claude-x": {Input: 3, Cached: 0.3, Output: 15}}

func TestMessagesAreServed(t *testing.T) {
	usage := &fakemodel.Usage{Input: 1000, Cached: 400, Output: 50}
	call := []fakemodel.ToolCall{{Name: "look", Arguments: `{"url":"https://example.com"}`}, {Name: "look", Arguments: `{}`}}
	for _, row := range []struct {
		name    string
		answer  fakemodel.Answer
		limits  review.Limits
		stream  bool
		says    string
		refused Axis
		tools   int
	}{
		{"a whole answer", fakemodel.Answer{Text: "hello", Usage: usage}, review.Limits{}, false, `"text":"hello"`, "", 0},
		{"a stream", fakemodel.Answer{Text: "hello", Usage: usage}, review.Limits{}, true, `"type":"message_stop"`, "", 0},
		{"calls are counted", fakemodel.Answer{ToolCalls: call, Usage: usage}, review.Limits{ToolCalls: 5}, true, `"name":"look"`, "", 2},
		{"a whole answer with more calls than are left", fakemodel.Answer{ToolCalls: call, Usage: usage}, review.Limits{ToolCalls: 1}, false, `"name":"look"`, "", 1},
		{"a stream with more calls than are left breaks off", fakemodel.Answer{ToolCalls: call}, review.Limits{ToolCalls: 1}, true, "", AxisToolCalls, 1},
		{"a stream beyond its limit breaks off", fakemodel.Answer{Text: "word ", Repeat: 1000}, review.Limits{}, true, "", AxisTokens, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &row.answer}, row.limits, func(o *Options) { o.Prices = claudePrice })
			status, body, err := r.message(map[string]any{"stream": row.stream})
			if (err != nil) != (row.refused != "") || status != http.StatusOK || !strings.Contains(body, row.says) {
				t.Errorf("%d %v\n%s", status, err, body)
			}
			u := r.g.Usage("r1")
			if u.LLMCalls != 1 || u.ToolCalls != row.tools {
				t.Errorf("usage %+v", u)
			}
			if row.refused != "" {
				var over *BudgetError
				if !errors.As(r.g.Err("r1"), &over) || over.Axis != row.refused || u.OutputTokens != nil {
					t.Errorf("cut by %v, want the budget for %s; the first count of a stream is not what it cost: %+v", r.g.Err("r1"), row.refused, u)
				}
				return
			}
			const cost = (600*3 + 400*0.3 + 50*15) / 1e6
			if u.InputTokens == nil || *u.InputTokens != 1000 || *u.CachedTokens != 400 || *u.OutputTokens != 50 || u.CostUSD == nil || *u.CostUSD < cost-1e-9 || *u.CostUSD > cost+1e-9 {
				t.Errorf("usage %+v, want $%f", u, cost)
			}
			q := r.model.Requests()[0]
			if faults := r.model.Faults(); len(faults) > 0 || q.Header["X-Api-Key"][0] != realKey || q.Authorization != "" || q.Header["Anthropic-Beta"] != nil {
				t.Errorf("faults %q, headers %v", faults, q.Header)
			}
		})
	}
}

func TestTheKeyGoesWhereItIsLookedFor(t *testing.T) {
	for _, row := range []struct{ host, path, want string }{
		{"api.openai.com", pathChat, "Authorization"},
		{"api.openai.com", pathModels, "Authorization"},
		{"llm.example.com", pathMessages, "X-Api-Key"},
		{anthropicHost, pathMessages, "X-Api-Key"},
		{anthropicHost, pathModels, "X-Api-Key"},
		{anthropicHost, pathChat, "Authorization"},
	} {
		list, err := resolve([]Upstream{{Name: "u", BaseURL: "https://" + row.host + "/v1", Key: NewSecret(realKey)}})
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		list[0].authorize(h, row.path)
		if !strings.HasSuffix(h.Get(row.want), realKey) || (h.Get("Anthropic-Version") == "") != (row.want == "Authorization") || h.Get("Authorization") != "" && h.Get("X-Api-Key") != "" {
			t.Errorf("%s%s: %v", row.host, row.path, h)
		}
	}
}

func TestWhatTheMessagesCacheTakesCosts(t *testing.T) {
	var s spent
	s.read([]byte(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":100,"cache_read_input_tokens":200,"cache_creation_input_tokens":400,"output_tokens":1}}}`))
	if s.output != nil || *s.input != 700 || *s.cached != 200 {
		t.Errorf("%+v", s)
	}
	s.read([]byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":10}}`))
	r := reservation{price: &Price{Input: 1, Cached: 0.1, Output: 5}}
	if c := r.cost(s); c == nil || *c*1e6 < 669.9 || *c*1e6 > 670.1 { // 100 + 200/10 + 400*1.25 + 10*5
		t.Errorf("%+v cost %v", s, *c*1e6)
	}
}

func TestMessagesThatReachOut(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "ok"}}, review.Limits{LLMCalls: 99})
	user := func(block map[string]any) map[string]any {
		return map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{block}}}}
	}
	called := []any{
		map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "t", "name": "look", "input": map[string]any{"url": "https://example.com"}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t", "content": []any{
			map[string]any{"type": "image", "source": map[string]any{"type": "base64", "data": "AA"}}}}}}}
	for _, row := range []struct {
		rule   string
		fields map[string]any
		want   string
	}{
		{"a plain question passes", nil, ""},
		{"what a tool of the caller's was asked and gave passes", map[string]any{"messages": called}, ""},
		{"labels and betas are left out", map[string]any{"metadata": map[string]any{"user_id": "u"}, "context_management": map[string]any{}, "service_tier": "auto"}, ""},
		{"thought that no longer fits is left out", map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 100}}, ""},
		{"a server of tools is refused", map[string]any{"mcp_servers": []any{map[string]any{"type": "url", "url": "https://evil.example"}}}, "mcp_servers"},
		{"so is a container that was left there", map[string]any{"container": "c"}, "container"},
		{"and a search by the provider", map[string]any{"tools": []any{map[string]any{"type": "web_search_20250305", "name": "web_search"}}}, "web_search_20250305"},
		{"an image by address can carry data out", user(map[string]any{"type": "image", "source": map[string]any{"type": "url", "url": "https://evil.example"}}), "address"},
		{"so can a document", user(map[string]any{"type": "document", "source": map[string]any{"type": "url", "url": "https://evil.example"}}), "address"},
		{"a file stored there is not the caller's", user(map[string]any{"type": "document", "source": map[string]any{"type": "file", "file_id": "f"}}), "address"},
		{"nor inside the result of a tool", user(map[string]any{"type": "tool_result", "tool_use_id": "t", "content": []any{map[string]any{"type": "image", "source": map[string]any{"type": "url"}}}}), "address"},
		{"blocks nobody knows are refused", user(map[string]any{"type": "container_upload", "file_id": "f"}), "container_upload"},
	} {
		status, body, err := r.message(row.fields)
		if err != nil || (status == http.StatusOK) != (row.want == "") || !strings.Contains(body, row.want) {
			t.Errorf("%s: %d %s %v", row.rule, status, body, err)
		}
	}
	if faults := r.model.Faults(); len(faults) > 0 {
		t.Errorf("the endpoint finds fault with %q", faults)
	}
}

func TestMessagesWithoutToolsLeft(t *testing.T) {
	r := setup(t, fakemodel.Script{Default: &fakemodel.Answer{Text: "ok", ToolCalls: []fakemodel.ToolCall{{Name: "look", Arguments: "{}"}}}}, review.Limits{ToolCalls: 1, LLMCalls: 9})
	for range 2 {
		_, _, _ = r.message(nil)
	}
	var sent struct {
		Choice struct{ Type string } `json:"tool_choice"`
		Tools  []any
	}
	if err := json.Unmarshal(r.model.Requests()[1].Body, &sent); err != nil || sent.Choice.Type != "none" || len(sent.Tools) != 1 {
		t.Errorf("%+v %v: the model may still call a tool", sent, err)
	}
}
