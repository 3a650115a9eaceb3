package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// respond asks over the Responses API and gives status and body; an error is an answer that breaks off.
func (r *rig) respond(stream bool) (int, string, error) {
	r.t.Helper()
	body, _ := json.Marshal(map[string]any{"model": mini, "stream": stream, "max_output_tokens": 100, "input": "x", "tools": []any{
		map[string]any{"type": "function", "name": "look", "parameters": map[string]any{"type": "object"}}}})
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://gateway/v1/responses", strings.NewReader(string(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := r.client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestResponsesAreServed(t *testing.T) {
	usage := &fakemodel.Usage{Input: 1000, Cached: 400, Output: 50}
	call := []fakemodel.ToolCall{{Name: "look", Arguments: `{"at":"a"}`}, {Name: "look", Arguments: `{"at":"b"}`}}
	for _, row := range []struct {
		name    string
		answer  fakemodel.Answer
		limits  review.Limits
		stream  bool
		says    string // a part of the body
		refused Axis   // of the budget that cut it
		tools   int
	}{
		{"a whole answer", fakemodel.Answer{Text: "hello", Usage: usage}, review.Limits{}, false, `"text":"hello"`, "", 0},
		{"a stream", fakemodel.Answer{Text: "hello", Usage: usage}, review.Limits{}, true, `"type":"response.completed"`, "", 0},
		{"a stream that stops at its limit is whole too", fakemodel.Answer{Text: "hello", Finish: "length", Usage: usage}, review.Limits{}, true, `"type":"response.incomplete"`, "", 0},
		{"calls are counted once", fakemodel.Answer{ToolCalls: call, Usage: usage}, review.Limits{ToolCalls: 5}, true, `"name":"look"`, "", 2},
		{"a whole answer with more calls than are left", fakemodel.Answer{ToolCalls: call, Usage: usage}, review.Limits{ToolCalls: 1}, false, `"name":"look"`, "", 1},
		{"a stream with more calls than are left breaks off", fakemodel.Answer{ToolCalls: call}, review.Limits{ToolCalls: 1}, true, "", AxisToolCalls, 1},
		{"a stream beyond its limit breaks off", fakemodel.Answer{Text: "word ", Repeat: 1000}, review.Limits{}, true, "", AxisTokens, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Default: &row.answer}, row.limits)
			status, body, err := r.respond(row.stream)
			if (err != nil) != (row.refused != "") || status != http.StatusOK || !strings.Contains(body, row.says) {
				t.Errorf("%d %v\n%s", status, err, body)
			}
			u := r.g.Usage("r1")
			if u.LLMCalls != 1 || u.ToolCalls != row.tools {
				t.Errorf("usage %+v", u)
			}
			var over *BudgetError
			if row.refused != "" {
				if !errors.As(r.g.Err("r1"), &over) || over.Axis != row.refused {
					t.Errorf("cut by %v, want the budget for %s", r.g.Err("r1"), row.refused)
				}
				return
			}
			if u.InputTokens == nil || *u.InputTokens != 1000 || *u.CachedTokens != 400 || *u.OutputTokens != 50 || u.CostUSD == nil {
				t.Errorf("usage %+v", u)
			}
			if faults := r.model.Faults(); len(faults) > 0 {
				t.Errorf("the endpoint finds fault with %q", faults)
			}
		})
	}
}

// TestCallsThatAreToldLate: an endpoint need not announce a call before it is whole; callers run it all the same.
func TestCallsThatAreToldLate(t *testing.T) {
	item := `{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}`
	for name, event := range map[string]string{
		"when it is whole": `{"type":"response.output_item.done","item":` + item + `}`,
		"at the end":       `{"type":"response.completed","response":{"output":[` + item + `]}}`,
	} {
		r := setup(t, fakemodel.Script{}, review.Limits{ToolCalls: 1})
		tools := toolBudget{account: r.g.account(r.token)}
		if rest, cut := tools.trim([]byte(event)); cut || string(rest) != event || r.g.Usage("r1").ToolCalls != 1 {
			t.Errorf("%s: %v %s, %d counted", name, cut, rest, r.g.Usage("r1").ToolCalls)
		}
		if rest, cut := tools.trim([]byte(strings.ReplaceAll(event, `"c"`, `"d"`))); !cut || rest != nil {
			t.Errorf("%s: a call beyond the budget passes: %s", name, rest)
		}
	}
}

// No spelling of a name and no field beside it keeps a tool call that there is no budget for (threats.md T630).
func TestNoShapeKeepsAToolCall(t *testing.T) {
	const call = `[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"2","type":"function","name":7,"function":{"name":"read","arguments":"{}"}}]`
	const item = `[{"type":"function_call","call_id":"c","name":"read"}]`
	for _, answer := range []string{
		`{"choices":[{"message":{"tool_calls":` + call + `}}]}`,
		`{"choices":[{"message":{"tool\u005fcalls":` + call + `}}]}`,
		`{"output":1,"choices":[{"message":{"tool_calls":` + call + `}}]}`,
		`{"content":null,"choices":[{"delta":{"tool_calls":` + call + `}}]}`,
		`{"content":[],"output":[],"choices":[1,{"delta":{"tool_calls":` + call + `}}]}`,
		`{"content":[],"output":` + item + `}`,
		`{"output":` + strings.Replace(item, "_", `\u005f`, 1) + `}`,
		`{"response":{"content":"x","output":` + item + `}}`,
		`{"item":1,"response":{"output":` + item + `}}`,
		`{"content":[{"type":"tool\u005fuse","name":"read"}]}`,
		`{"choices":[{"message":{"Tool_Calls":` + call + `}}]}`,
		`{"choices":[{"message":{"tool_calls":[],"TOOL_CALLS":` + call + `}}]}`,
		`{"choices":[],"Choices":[{"Message":{"tool_calls":` + call + `}}]}`,
		`{"choices":[{"message":{"function_call":{"name":"read","arguments":"{}"}}}]}`,
		`{"choices":[{"delta":{"function_call":{"name":"read","arguments":"{}"}}}]}`,
		`{"Output":` + item + `}`,
		`{"Item":` + item[1:len(item)-1] + `}`,
	} {
		a := newAccount("r", review.Limits{ToolCalls: 1}, 0, 1<<20, newPurse(Options{}), time.Now())
		a.takeTools(1)
		if rest, cut := (&toolBudget{account: a}).trim([]byte(answer)); !cut || strings.Contains(string(rest), "read") {
			t.Errorf("%s: cut %v, left %s", answer, cut, rest)
		}
	}
	for _, answer := range []string{`{"choices":[{"delta":{"content":"a tool_calls"}}]}`, `{"choices":[{"message":{"content":"x","function_call":null,"tool_calls":[]}}]}`, `{"type":"ping"}`, `[1]`, `1`, `{"output":[{"type":"message"}],"choices":1}`} {
		a := newAccount("r", review.Limits{ToolCalls: 1}, 0, 1<<20, newPurse(Options{}), time.Now())
		if rest, cut := (&toolBudget{account: a}).trim([]byte(answer)); cut || string(rest) != answer {
			t.Errorf("%s becomes %s", answer, rest)
		}
	}
}
