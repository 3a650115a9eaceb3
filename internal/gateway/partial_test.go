package gateway

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// TestUsageOfHalfAStream (threats.md T121): some endpoints tell with each piece what came so far. Of a stream that did not end that is not what it
// cost: an agent that hangs up would be charged one token for what the endpoint goes on to write.
func TestUsageOfHalfAStream(t *testing.T) {
	for what, hangUp := range map[string]bool{"the caller hangs up": true, "the endpoint breaks off": false} {
		t.Run(what, func(t *testing.T) {
			endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"cost":0.0000001}}`+"\n\n")
				_ = http.NewResponseController(w).Flush()
				if hangUp {
					<-q.Context().Done()
				}
			}))
			t.Cleanup(endpoint.Close)
			r := setup(t, fakemodel.Script{}, review.Limits{CostUSD: 1}, func(o *Options) {
				o.Upstreams = []Upstream{{Name: "u", BaseURL: endpoint.URL + "/v1", Key: NewSecret(realKey)}}
				o.Prices = map[string]Price{mini: {Input: 1, Output: 1000}}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			resp, err := r.postIn(ctx, strings.Replace(chat(mini, "x", true), `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(resp.Body)
			lines.Scan()
			if hangUp {
				cancel()
			}
			for lines.Scan() {
			}
			_ = resp.Body.Close()
			eventually.True(t, "the call is settled", func() bool { return r.g.account(r.token).liveness.ended.Load() > 0 && r.g.Usage("r1").Models != nil })
			if c := r.g.Charged(); c < 100*1000/1e6 {
				t.Errorf("charged $%f, want what was held for 100 tokens", c)
			}
			if u := r.g.Usage("r1"); u.OutputTokens != nil || u.CostUSD != nil {
				t.Errorf("what it cost is not known: %+v", u)
			}
		})
	}
}
