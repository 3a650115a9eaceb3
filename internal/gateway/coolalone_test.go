package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// What an endpoint refuses one agent moves that agent on to another model, and no other: whatever it says may be so for what is in the request alone (threats.md T353).
// An agent that is refused as well finds out with one request, and then waits as long as the endpoint asks.
func TestOneAgentsTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"no images":                         {http.StatusNotFound, `{"error":{"message":"No endpoints found that support image input","code":404}}`},
		"moderation":                        {http.StatusForbidden, `{"error":{"code":403,"message":"requires moderation. Your input was flagged"}}`},
		"no tools":                          {http.StatusBadRequest, `{"error":{"message":"model does not support tools: not supported"}}`},
		"a crash":                           {http.StatusInternalServerError, `{"error":{"message":"decoding failed"}}`},
		"no money":                          {http.StatusPaymentRequired, `{"error":{"message":"insufficient credits"}}`},
		"the key":                           {http.StatusUnauthorized, `{"error":{"message":"invalid key"}}`},
		"larger than the limit of a minute": {http.StatusTooManyRequests, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 90012.","type":"tokens","code":"rate_limit_exceeded"}}`},
		"more than it can afford":           {http.StatusPaymentRequired, `{"error":{"message":"You requested up to 32000 tokens, but can only afford 4666.","code":402}}`},
	} {
		t.Run(name, func(t *testing.T) {
			asked, refusesAll := 0, false
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				asked++
				w.Header().Set("Content-Type", "application/json")
				if refusesAll || strings.Contains(string(raw), "ODD") {
					w.Header().Set("Retry-After", "25")
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
					return
				}
				_, _ = io.WriteString(w, `{"model":"`+mini+`","choices":[{"index":0,"message":{"role":"assistant","content":"from the first"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			}))
			defer up.Close()
			r, _, _ := pair(t, fakemodel.Answer{Text: "unused"}, func(o *Options) { o.Upstreams[0].BaseURL, o.Retries = up.URL+"/v1", 3 })
			odd, other := r.token, r.g.Issue("other", review.Limits{LLMCalls: 20}, known...)
			for _, step := range []struct {
				token, words string
				refusesAll   bool
				first        bool // the model that was asked for answers
				asked        int
			}{
				{odd, "ODD", false, false, 1},
				{odd, "plain", false, false, 1},
				{other, "plain", false, true, 2},
				{other, "plain", true, false, 3},
				{other, "plain", true, false, 3},
			} {
				r.token, refusesAll = step.token, step.refusesAll
				if _, got := r.ask(mini, step.words); strings.Contains(got, "from the first") != step.first || asked != step.asked {
					t.Errorf("%+v: asked %d times, got %s", step, asked, got)
				}
			}
		})
	}
}
