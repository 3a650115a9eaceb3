package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

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
