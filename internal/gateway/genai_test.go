package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

func TestEveryCallIsObserved(t *testing.T) {
	var seen []Observation
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Contains: "bad", Answer: fakemodel.Answer{Status: 400}}, {Contains: "cut", Answer: fakemodel.Answer{Drop: "before"}}},
		Default: &fakemodel.Answer{Text: "ok", Usage: &fakemodel.Usage{Input: 1000, Cached: 400, Output: 50}}}, review.Limits{LLMCalls: 9},
		func(o *Options) { o.Observe, o.Retries = func(s Observation) { seen = append(seen, s) }, -1 })
	if status, body := r.ask(mini, "x"); status != http.StatusOK {
		t.Fatal(status, body)
	}
	r.ask(mini, "bad")
	r.ask(mini, "cut")
	base := map[string]any{AttrOperation: "chat", AttrAgent: "r1", AttrRequestModel: mini, AttrMaxTokens: 100, AttrProvider: "fake", AttrServer: "127.0.0.1"}
	var got []map[string]any
	for _, s := range seen {
		if s.End.Before(s.Start) || s.Start.IsZero() {
			t.Errorf("from %v to %v", s.Start, s.End)
		}
		got = append(got, s.Attributes)
	}
	with := func(more map[string]any) map[string]any {
		for k, v := range base {
			more[k] = v
		}
		return more
	}
	want := []map[string]any{
		with(map[string]any{AttrResponseModel: mini, AttrInputTokens: 1000, AttrCachedTokens: 400, AttrOutputTokens: 50, AttrCostUSD: 0.00036}),
		with(map[string]any{AttrErrorType: ErrorRefused}),
		with(map[string]any{AttrErrorType: ErrorLost}),
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(strings.TrimSpace(d))
	}
}
