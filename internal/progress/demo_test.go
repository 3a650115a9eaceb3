package progress

import (
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// TestMain lets the test binary play a run on a real terminal: LIVE_DEMO=terminal, plain or actions. LIVE_PACE stretches
// the time between events, LIVE_SCENE=fix plays two rounds with a fix.
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
	events, result := demoEvents(), demoResult()
	if os.Getenv("LIVE_SCENE") == "fix" {
		events, result = mendEvents(), mendResult()
	}
	for _, e := range events {
		select {
		case <-interrupted:
			v.Close()
			println("interrupted")
			os.Exit(130)
		case <-time.After(pace):
		}
		v.Event(e)
	}
	v.Done(result)
	os.Exit(0)
}

// Done ends the view as prloop does, and shows the result: a summary, and in Actions the annotations.
func (v *View) Done(r review.RunResult) {
	v.Clear()
	width := v.opts.Width
	if v.screen != nil {
		width = v.screen.columns
	}
	if v.mode == actions {
		Annotate(v.opts.Out, r, sanitize.Policy{})
	}
	Summary(v.opts.Out, r, width, v.opts.Color && v.mode != plain)
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

// mendEvents is a run of two rounds: review, fix, verify, push, review again. Between the lines an agent tries to tell of a
// round of its own.
func mendEvents() []review.Event {
	n, usd := func(i int) *int { return &i }, func(f float64) *float64 { return &f }
	state := func(agent string, s review.AgentState, message string) review.Event {
		return review.Event{Kind: review.EventState, Agent: agent, State: s, Message: message}
	}
	verify := func(command string, s review.CheckState, seconds float64, exit int) review.Event {
		return review.Event{Kind: review.EventCheck, Check: &review.Check{Command: command, State: s, Seconds: seconds, ExitCode: exit}}
	}
	first, second := "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c", "99aabbccddeeff0099aabbccddeeff0099aabbcc"
	asked, approved := "request_changes", "approve"
	return []review.Event{
		{Kind: review.EventProgress, Message: "acme/shop#123"},
		state("reviewer-1", review.AgentWaiting, ""), state("static", review.AgentWaiting, ""), state("pr-fix", review.AgentWaiting, ""),
		{Kind: review.EventRound, Round: 1, Rounds: 3, Head: first},
		state("reviewer-1", review.AgentRunning, ""), state("static", review.AgentRunning, ""),
		{Kind: review.EventUsage, Agent: "reviewer-1", Usage: &review.Usage{InputTokens: n(18123), OutputTokens: n(902), CostUSD: usd(0.0149)}},
		state("static", review.AgentComplete, ""), state("reviewer-1", review.AgentComplete, "2 findings"),
		state("pr-fix", review.AgentRunning, ""),
		{Kind: review.EventRound, Agent: "pr-fix", Round: 9, Message: "round 9: approved"},
		{Kind: review.EventProgress, Agent: "pr-fix", Message: "edit_file src/cart.go"},
		state("pr-fix", review.AgentComplete, ""),
		verify("make lint", "", 0, 0), verify("make lint", review.CheckPassed, 3.2, 0),
		verify("make test", "", 0, 0), verify("make test", review.CheckFailed, 21.4, 2),
		state("pr-fix", review.AgentRunning, "once more, with the log"), state("pr-fix", review.AgentComplete, ""),
		verify("make lint", "", 0, 0), verify("make lint", review.CheckPassed, 3.1, 0),
		verify("make test", "", 0, 0), verify("make test", review.CheckPassed, 20.9, 0),
		{Kind: review.EventPushed, Head: second},
		{Kind: review.EventResult, Result: &review.RoundResult{Round: 1, Head: first, Consensus: &asked, Issues: review.Counts{P1: 1, P2: 1}, Fix: mended()}},
		{Kind: review.EventRound, Round: 2, Rounds: 3, Head: second},
		state("reviewer-1", review.AgentRunning, ""), state("static", review.AgentRunning, ""),
		{Kind: review.EventUsage, Agent: "reviewer-1", Usage: &review.Usage{InputTokens: n(4100), OutputTokens: n(212), CostUSD: usd(0.0031)}},
		state("static", review.AgentComplete, ""), state("reviewer-1", review.AgentComplete, ""),
		{Kind: review.EventResult, Result: &review.RoundResult{Round: 2, Head: second, Consensus: &approved}},
	}
}

// comment is the address of a comment on the pull request, without its number.
const comment = "https://github.com/acme/shop/pull/123#issuecomment-"

func mended() *review.FixOutcome {
	return &review.FixOutcome{State: review.FixPushed, Head: "99aabbccddeeff0099aabbccddeeff0099aabbcc", URLs: []string{comment + "2"},
		Result: &review.FixResult{FixedIssues: []review.FixedIssue{{FindingID: "A"}, {FindingID: "B"}}},
		Agent:  review.AgentReceipt{Name: "pr-fix", Role: review.RoleFixer, State: review.AgentComplete, Seconds: 74.1}}
}

func mendResult() review.RunResult {
	asked, approved := "request_changes", "approve"
	r := demoResult()
	r.Outcome, r.Reason, r.Issues, r.Distinct, r.Findings, r.Unverified = review.Converged, "No finding is P0, P1 or P2.", review.Counts{}, 0, nil, nil
	r.Comments = []string{comment + "1", comment + "2", comment + "3"}
	n, usd := func(i int) *int { return &i }, 0.0149
	first := []review.AgentReceipt{{Name: "reviewer-1", State: review.AgentComplete, Usage: review.Usage{LLMCalls: 2, InputTokens: n(18123), OutputTokens: n(902), CostUSD: &usd}}}
	r.Rounds = []review.RoundResult{
		{Agents: first, Round: 1, Head: "1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c", Consensus: &asked, Issues: review.Counts{P1: 1, P2: 1}, Distinct: 2, Fix: mended()},
		{Agents: r.Receipt.Agents, Round: 2, Head: "99aabbccddeeff0099aabbccddeeff0099aabbcc", Consensus: &approved},
	}
	return r
}
