package dashboard

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// What a scout noticed stands on the page of its run, as text.
func TestAScanIsShown(t *testing.T) {
	st := newState(t)
	r := st.begin(t, at("acme", "shop", 9))
	result := review.RunResult{Run: r.ID, Target: r.Target, Outcome: review.Flagged, Reason: "the scout flags the change", Round: 1, Receipt: review.Receipt{HeadSHA: r.Head}, Scan: &review.Scan{
		Complexity: review.ComplexChange, Verdict: review.Flag, Reasons: []string{"It is about money."}, Standing: []string{"1 review thread is unresolved."},
		Observations: []review.Observation{{Tag: "rounding", Text: "Cents are rounded twice. " + hostile, File: "internal/pay/total.go", Line: pointer(42)}},
	}}
	if err := st.store.FinishRun(t.Context(), result); err != nil {
		t.Fatal(err)
	}
	s := st.serve(t, Options{})
	s.enter(t)
	s.shows(t, runLink(r.ID), "Quick scan", "complex", "It is about money.", "1 review thread is unresolved.", "rounding", "Cents are rounded twice. &lt;script&gt;", "internal/pay/total.go:42")
	s.shows(t, "/runs?outcome=flagged", r.ReviewID)
}

// A cost that nobody knows is not taken for nothing.
func TestACostNobodyKnows(t *testing.T) {
	n, free := 10, 0.0
	static := review.AgentReceipt{Usage: review.Usage{CostUSD: &free}}
	unpriced := review.AgentReceipt{Model: "llama", Usage: review.Usage{LLMCalls: 1, InputTokens: &n, OutputTokens: &n}}
	lost := review.AgentReceipt{Model: "llama", Usage: review.Usage{LLMCalls: 1}}
	paid := review.AgentReceipt{Usage: review.Usage{LLMCalls: 1, CostUSD: pointer(0.25)}}
	for want, agents := range map[string][]review.AgentReceipt{
		"$0": {static}, "$0.25": {static, paid}, "unknown (no price for llama)": {static, unpriced, unpriced}, "unknown": {static, lost}, "more than $0.25": {unpriced, paid},
	} {
		if got := bill(review.BillOf(agents...)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := spent(0.001, true); got != "more than $0.0010" {
		t.Error(got)
	}
}
