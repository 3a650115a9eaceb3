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

// What an endpoint refuses for what is in it moves the agent that sent it on to another model, and no other agent (threats.md T353).
func TestOneAgentsTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		all    bool
	}{
		"no images":  {http.StatusNotFound, `{"error":{"message":"No endpoints found that support image input","code":404}}`, false},
		"moderation": {http.StatusForbidden, `{"error":{"code":403,"message":"requires moderation. Your input was flagged"}}`, false},
		"no tools":   {http.StatusBadRequest, `{"error":{"message":"model does not support tools: not supported"}}`, false},
		"a crash":    {http.StatusInternalServerError, `{"error":{"message":"decoding failed"}}`, false},
		"no money":   {http.StatusPaymentRequired, `{"error":{"message":"insufficient credits"}}`, true},
		"the key":    {http.StatusUnauthorized, `{"error":{"message":"invalid key"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(raw), "ODD") {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
					return
				}
				_, _ = io.WriteString(w, `{"model":"`+mini+`","choices":[{"index":0,"message":{"role":"assistant","content":"from the first"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			}))
			defer up.Close()
			r, _, _ := pair(t, fakemodel.Answer{Text: "unused"}, func(o *Options) { o.Upstreams[0].BaseURL = up.URL + "/v1" })
			other := r.g.Issue("other", review.Limits{LLMCalls: 20}, known...)
			if _, got := r.ask(mini, "ODD"); strings.Contains(got, "from the first") {
				t.Fatalf("the first answered: %s", got)
			}
			if _, got := r.ask(mini, "plain"); strings.Contains(got, "from the first") {
				t.Errorf("the first is asked again at once: %s", got)
			}
			r.token = other
			if _, got := r.ask(mini, "plain"); strings.Contains(got, "from the first") == c.all {
				t.Errorf("the other agent got %s", got)
			}
		})
	}
}
