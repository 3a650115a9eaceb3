package orchestrator

import "github.com/prloop/prloop/review"

// Telemetry is telemetry.json: what a run cost (spec.md R1, R11). Unknown figures are null.
type Telemetry struct {
	Run        string   `json:"run"`
	ReviewID   string   `json:"review_id"`
	Status     string   `json:"status"`
	TokensUsed *int     `json:"tokens_used"`
	CostUSD    *float64 `json:"cost_usd"`
	// LatencyE2E is the whole run in seconds; LatencyLLM the time agents waited for models, added up.
	LatencyE2E float64  `json:"latency_seconds_e2e"`
	LatencyLLM float64  `json:"latency_seconds_llm"`
	LLMCalls   int      `json:"llm_calls"`
	ToolCalls  int      `json:"tool_calls"`
	Models     []string `json:"models"`
	// Agents are all who took part, round by round.
	Agents []review.AgentReceipt `json:"agents"`
}

func telemetry(r review.RunResult) Telemetry {
	t := Telemetry{
		Run: r.Run, ReviewID: r.Receipt.ReviewID, Status: r.Receipt.Status, LatencyE2E: r.Seconds,
		Models: []string{},
	}
	t.Agents = []review.AgentReceipt{}
	for _, round := range r.Rounds {
		t.Agents = append(t.Agents, round.Agents...)
		if round.Fix != nil {
			t.Agents = append(t.Agents, round.Fix.Agent)
		}
	}
	tokens, cost, known := 0, 0.0, true
	for _, a := range t.Agents {
		u := a.Usage
		t.LLMCalls += u.LLMCalls
		t.ToolCalls += u.ToolCalls
		t.LatencyLLM += u.LLMSeconds
		t.Models = append(t.Models, u.Models...)
		if u.LLMCalls == 0 {
			continue
		}
		if u.InputTokens == nil || u.OutputTokens == nil || u.CostUSD == nil {
			known = false
			continue
		}
		tokens += *u.InputTokens + *u.OutputTokens
		cost += *u.CostUSD
	}
	if known {
		t.TokensUsed, t.CostUSD = &tokens, &cost
	}
	t.Models = sortedSet(t.Models)
	return t
}
