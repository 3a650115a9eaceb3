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
		Default: &fakemodel.Answer{Text: "ok", Usage: &fakemodel.Usage{Input: 1000, Cached: 400, Output: 50}}}, review.Limits{LLMCalls: 3},
		func(o *Options) { o.Observe, o.Retries = func(s Observation) { seen = append(seen, s) }, -1 })
	const odd = "no such model, with\nthe code of it"
	r.token = r.g.Issue("r1", review.Limits{LLMCalls: 3}, mini, odd)
	if status, body := r.ask(mini, "x"); status != http.StatusOK {
		t.Fatal(status, body)
	}
	r.ask(mini, "bad")
	r.ask(mini, "cut")
	r.ask(odd, "x")
	r.ask(mini, "one more than there may be")
	base := map[string]any{AttrOperation: "chat", AttrAgent: "r1", AttrRequestModel: mini, AttrMaxTokens: 100, AttrProvider: "fake", AttrUpstream: "fake", AttrServer: "127.0.0.1"}
	var got []map[string]any
	for _, s := range seen {
		if s.End.Before(s.Start) || s.Start.IsZero() {
			t.Errorf("from %v to %v", s.Start, s.End)
		}
		if port, _ := s.Attributes[AttrPort].(int); port == 0 && s.Attributes[AttrUpstream] != nil {
			t.Errorf("no port: %v", s.Attributes)
		}
		delete(s.Attributes, AttrPort)
		got = append(got, s.Attributes)
	}
	with := func(more map[string]any) map[string]any {
		for k, v := range base {
			if _, ok := more[k]; !ok {
				more[k] = v
			}
		}
		return more
	}
	want := []map[string]any{
		with(map[string]any{AttrResponseModel: mini, AttrInputTokens: 1000, AttrCachedTokens: 400, AttrOutputTokens: 50, AttrCostUSD: 0.00036,
			AttrFate: FateAnswered, AttrFinish: []string{"stop"}}),
		with(map[string]any{AttrErrorType: "400", AttrFate: FateRefused}),
		with(map[string]any{AttrErrorType: "connection_error", AttrFate: FateLost}),
		with(map[string]any{AttrRequestModel: "(other)", AttrResponseModel: "(other)", AttrInputTokens: 1000, AttrCachedTokens: 400, AttrOutputTokens: 50,
			AttrFate: FateAnswered, AttrFinish: []string{"stop"}}),
		// Its request was not read, so that nobody knows which model it wanted.
		{AttrOperation: "chat", AttrAgent: "r1", AttrFate: FateDenied, AttrErrorType: "budget_exceeded"},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(strings.TrimSpace(d))
	}
}
