package gateway

import (
	"bytes"
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

// TestAFigureOfAnotherTypeHidesNoOther (threats.md T644): each figure of an answer is read by itself, however odd those beside it are.
func TestAFigureOfAnotherTypeHidesNoOther(t *testing.T) {
	const counts = `"prompt_tokens":100,"completion_tokens":5`
	for _, rest := range []string{
		`"usage":{` + counts + `}`,
		`"usage":{"prompt_tokens":100.0,"completion_tokens":"5"}`,
		`"usage":{"prompt_tokens":1e2,"completion_tokens":5.0,"input_tokens":"none"}`,
		`"usage":{"prompt_tokens":[],"input_tokens":100,"completion_tokens":0.5,"output_tokens":5}`,
		`"usage":{"cost":{"currency":"USD"},` + counts + `}`,
		`"usage":{"cost":"free","cost_details":[],"is_byok":1,` + counts + `}`,
		`"usage":{"prompt_tokens_details":0,"input_tokens_details":[],` + counts + `}`,
		`"usage":{"prompt_tokens_details":{"cached_tokens":"none"},"cache_read_input_tokens":"0",` + counts + `}`,
		`"usage":{"cache_creation_input_tokens":{"ephemeral_5m":1},"cache_read_input_tokens":"NaN",` + counts + `}`,
		`"incomplete_details":"none","status":200,"type":1,"stop_reason":{},"usage":{` + counts + `}`,
		`"message":"ok","delta":5,"response":"ok","usage":{` + counts + `}`,
		`"response":{"model":null,"status":1},"usage":{` + counts + `}`,
		`"response":{"status":"in_progress"},"usage":{` + counts + `}`,
		`"response":{"id":5,"usage":{"cost":"x",` + counts + `}}`,
	} {
		var s spent
		s.read([]byte(`{"choices":[{"index":0,"finish_reason":"length"}],"model":"m",` + rest + `}`))
		if value(s.input) != 100 || value(s.output) != 5 || value(s.cached) != 0 || s.cost != nil || s.model != "m" || len(s.finish) != 1 {
			t.Errorf("%s: input %d, output %d, cached %d, cost %v, model %q, finish %v", rest, value(s.input), value(s.output), value(s.cached), s.cost, s.model, s.finish)
		}
	}
	for _, unknown := range []string{`"100 tokens"`, `-1`, `1e9`, `1e999`, `100.5`, `"NaN"`, `null`, `true`, `[100]`} {
		var s spent
		if s.read([]byte(`{"usage":{"prompt_tokens":` + unknown + `}}`)); s.input != nil {
			t.Errorf("%s is read as %d", unknown, *s.input)
		}
	}
}

// TestReadingAPartIsSeenBesideOddFigures (threats.md T644) has an endpoint say that it read a fifth of a request, and say something else oddly.
func TestReadingAPartIsSeenBesideOddFigures(t *testing.T) {
	change := strings.Repeat("return compute(value, other) // ordinary words\n", 1000)
	for _, more := range []string{`"cost":{"total_cost":0.06}`, `"cost":"0.06"`, `"prompt_tokens_details":[]`, `"cache_read_input_tokens":"0"`} {
		for _, stream := range []bool{false, true} {
			usage := `"usage":{"prompt_tokens":2302,"completion_tokens":5,` + more + `}`
			answer := fakemodel.Answer{Raw: `{"model":"` + mini + `","choices":[{"index":0,"message":{"content":"all is well"},"finish_reason":"stop"}],` + usage + `}`}
			if stream {
				answer.Raw = `data: {"choices":[{"index":0,"delta":{"content":"all is well"}}]}` + "\n\n" + `data: {"choices":[],` + usage + "}\n\ndata: [DONE]\n\n"
				answer.Headers = map[string]string{"Content-Type": "text/event-stream"}
			}
			r := setup(t, fakemodel.Script{Default: &answer}, review.Limits{})
			body, _ := json.Marshal(map[string]any{"model": mini, "stream": stream, "messages": []any{map[string]any{"role": "user", "content": change}}})
			resp, err := r.post(string(body))
			if err != nil {
				t.Fatal(err)
			}
			heard, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			var unread *UnreadError
			if !errors.As(r.g.Err("r1"), &unread) || !bytes.Contains(heard, []byte(CodeUnread)) || !stream && resp.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("stream %v, %s: %v\n%s", stream, more, r.g.Err("r1"), heard)
			}
		}
	}
}

// TestThoughtsBesideTheAnswerCount (threats.md T647): what a model thought is output, whether it is told as a part of it, beside it, or in the total alone, and counts once.
func TestThoughtsBesideTheAnswerCount(t *testing.T) {
	for usage, want := range map[string]int{ // -1 is unknown
		`"prompt_tokens":3000,"completion_tokens":20,"total_tokens":22020,"completion_tokens_details":{"reasoning_tokens":19000}`:    19020, // xAI
		`"prompt_tokens":3000,"completion_tokens":19020,"total_tokens":22020,"completion_tokens_details":{"reasoning_tokens":19000}`: 19020, // OpenAI
		`"prompt_tokens":3000,"completion_tokens":500,"total_tokens":3500,"prompt_tokens_details":{"cached_tokens":2900}`:            500,
		`"prompt_tokens":3000,"completion_tokens":20,"total_tokens":22020`:                                                           19020, // Gemini behind a proxy
		`"prompt_tokens":3000,"total_tokens":22020`:                                                                                  19020,
		`"prompt_tokens":3000,"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":19000}`:                         19000,
		`"input_tokens":3000,"output_tokens":20,"output_tokens_details":{"reasoning_tokens":19000},"total_tokens":22020`:             19020,
		`"input_tokens":10,"cache_read_input_tokens":9000,"output_tokens":20,"total_tokens":30`:                                      20, // a cache that is counted apart
		`"input_tokens":10,"cache_read_input_tokens":9000,"output_tokens":20,"total_tokens":9030`:                                    20,
		`"prompt_tokens":10,"completion_tokens":20,"total_tokens":9030,"prompt_tokens_details":{"cached_tokens":9000}`:               20,
		`"prompt_tokens":3000,"completion_tokens":20,"total_tokens":20`:                                                              20, // a total of the output alone
		`"prompt_tokens":3000,"completion_tokens":20,"total_tokens":"many"`:                                                          20,
		`"total_tokens":22020,"completion_tokens":20`:                                                                                20,
		`"prompt_tokens":3000,"total_tokens":3000`:                                                                                   -1,
		`"prompt_tokens":3000,"completion_tokens_details":{"reasoning_tokens":19000}`:                                                -1,
	} {
		var s spent
		s.read([]byte(`{"usage":{` + usage + `}}`))
		if got := s.output; got == nil && want >= 0 || got != nil && *got != want {
			t.Errorf("%s: output %d, want %d", usage, value(got), want)
		}
	}
	var s spent
	if s.read([]byte(`{"type":"message_start","message":{"usage":{"input_tokens":100,"output_tokens":1,"total_tokens":101}}}`)); s.output != nil {
		t.Errorf("the beginning of a stream tells no output: %d", *s.output)
	}
	now, over := time.Now(), (*BudgetError)(nil)
	a := newAccount("r", review.Limits{CostUSD: 1, LLMCalls: 100}, 0, 1<<20, newPurse(Options{}), now)
	for i := range 5 {
		r, err := a.reserve(&call{size: 9000, maxOutput: 20000, n: 1}, "grok-4", &Price{Input: 3, Output: 15}, nil, now)
		if errors.As(err, &over) && over.Axis == AxisCost && i >= 3 {
			return
		}
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		var s spent
		s.read([]byte(`{"usage":{"prompt_tokens":3000,"completion_tokens":20,"total_tokens":22020,"completion_tokens_details":{"reasoning_tokens":19000}}}`))
		r.settle(s, now)
	}
	t.Error("a dollar is never used up")
}
