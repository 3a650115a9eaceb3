package live

import (
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// TestMain lets the test binary play a run on a real terminal: LIVE_DEMO=terminal, plain or actions. LIVE_PACE stretches
// the time between events.
func TestMain(m *testing.M) {
	kind := os.Getenv("LIVE_DEMO")
	if kind == "" {
		os.Exit(m.Run())
	}
	pace, err := time.ParseDuration(os.Getenv("LIVE_PACE"))
	if err != nil {
		pace = 300 * time.Millisecond
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	v := New(Options{Out: os.Stdout, IsTerminal: kind == "terminal", Actions: kind == "actions", Color: os.Getenv("NO_COLOR") == ""})
	for _, e := range demoEvents() {
		select {
		case <-interrupted:
			v.Close()
			println("interrupted")
			os.Exit(130)
		case <-time.After(pace):
		}
		v.Event(e)
	}
	v.Done(demoResult())
	os.Exit(0)
}

func demoEvents() []review.Event {
	n, usd := func(i int) *int { return &i }, func(f float64) *float64 { return &f }
	state := func(agent string, s review.AgentState, message string) review.Event {
		return review.Event{Kind: review.EventState, Agent: agent, State: s, Message: message}
	}
	return []review.Event{
		{Kind: review.EventProgress, Message: "acme/shop#123 at 1f2e3d4: 12 files, 31 hunks"},
		state("reviewer-1", review.AgentWaiting, ""), state("static", review.AgentWaiting, ""),
		state("houserules", review.AgentWaiting, ""), state("comments-analyzer", review.AgentWaiting, ""),
		state("reviewer-1", review.AgentRunning, ""), state("static", review.AgentRunning, ""),
		{Kind: review.EventProgress, Agent: "reviewer-1", Message: "reading the diff"},
		{Kind: review.EventUsage, Agent: "reviewer-1", Usage: &review.Usage{InputTokens: n(8123), OutputTokens: n(402), CostUSD: usd(0.0049)}},
		state("houserules", review.AgentRunning, ""),
		{Kind: review.EventLog, Agent: "houserules", Level: "warn", Message: "\x1b[31m::error::forged\x1b[0m\nsecond line \u202eand more text that is long enough to be cut at the edge of the window"},
		state("static", review.AgentComplete, "1 finding"), state("comments-analyzer", review.AgentRunning, ""),
		{Kind: review.EventProgress, Agent: "reviewer-1", Message: "verifying 3 findings: src/支払い/レジ.go"},
		{Kind: review.EventUsage, Agent: "reviewer-1", Usage: &review.Usage{InputTokens: n(11020), OutputTokens: n(911), CostUSD: usd(0.0071)}},
		state("comments-analyzer", review.AgentComplete, ""),
		state("houserules", review.AgentFailed, "no answer after 60s"),
		state("reviewer-1", review.AgentComplete, "3 findings"),
		{Kind: review.EventProgress, Message: "verdict: request_changes"},
	}
}

func demoResult() review.RunResult {
	n := func(i int) *int { return &i }
	usd := 0.012
	return review.RunResult{
		Run: "20260124T000000.000Z_1a2b3c4d5e6f7a8b", Target: review.Target{Repo: review.Repo{Owner: "acme", Name: "shop"}, PR: 123},
		Outcome: review.ChangesRequested, Reason: "1 critical and 2 important findings; 3 of 3 needed reviewers... one gave no answer.",
		Issues: review.Counts{P1: 1, P2: 2, P3: 1}, Distinct: 3,
		Findings: []review.Finding{
			{Priority: review.P2, File: "internal/payments/very/deep/folder/with/a/long/name/refund_controller.go", Line: n(88), LineEnd: n(93), Title: "Refunds are not idempotent when the gateway times out", Description: "A second click refunds twice: 50%, always.\nSee line 90.", Source: review.Source{Name: "reviewer-1"}},
			{Priority: review.P1, File: "src/a.go", Line: n(12), Title: "Nil map is \x1b[31mwritten\x1b[0m", Description: "It panics.", Source: review.Source{Name: "reviewer-1"}},
			{Priority: review.P2, File: "a_test.go", Line: n(4), Title: "Skips a test", Description: "The test no longer runs.", Source: review.Source{Name: "static"}},
			{Priority: review.P3, Title: "Consider a name", Source: review.Source{Name: "houserules"}},
		},
		Unverified: []review.Unverified{{Reason: "quotes code that is not there"}},
		Receipt: review.Receipt{Agents: []review.AgentReceipt{
			{Name: "reviewer-1", State: review.AgentComplete, Seconds: 4.2, Findings: 3, Usage: review.Usage{InputTokens: n(19143), OutputTokens: n(1313), CostUSD: &usd}},
			{Name: "static", State: review.AgentComplete, Seconds: 0.1, Findings: 1},
			{Name: "houserules", State: review.AgentFailed, Seconds: 60, Reason: "no answer after 60s"},
		}},
		Comments: []string{"https://github.com/acme/shop/pull/123#issuecomment-1"}, Artifacts: "~/.local/state/prloop/runs/20260124T000000.000Z_1a2b3c4d5e6f7a8b", Seconds: 63.4,
	}
}
