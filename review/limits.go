package review

// Limits are hard budgets of one agent (spec.md R3). 0 means the default.
type Limits struct {
	LLMCalls        int     `json:"maxLlmCalls"`
	ToolCalls       int     `json:"maxToolCalls"`
	Candidates      int     `json:"maxVerifyCandidates"`
	Findings        int     `json:"maxOutputIssues"`
	WallTimeSeconds int     `json:"maxWallTimeSeconds"`
	CostUSD         float64 `json:"maxCostUsd"`
	// ContextTokens bounds the brief; over it the least changed files are cut first.
	ContextTokens int `json:"maxContextTokens"`
	// IdleSeconds is the longest silence: of a model in the middle of a call, and of an agent that waits for none. CallSeconds is
	// the longest call of a model; 0 is as long as the wall time lasts, which bounds both.
	IdleSeconds int `json:"maxIdleSeconds,omitempty"`
	CallSeconds int `json:"maxCallSeconds,omitempty"`
	// AnswerTokens bounds one answer of a model, its thoughts included; 0 is what the agent takes to be enough.
	AnswerTokens int `json:"maxAnswerTokens,omitempty"`
}

// DefaultLimits are those of spec.md R3, but for the findings to verify: one verifier looks at those of all reviewers (decision 38).
func DefaultLimits() Limits {
	return Limits{LLMCalls: 2, ToolCalls: 3, Candidates: 30, Findings: 15, WallTimeSeconds: 60, CostUSD: 0.50, ContextTokens: 100_000, IdleSeconds: 300}
}

// MostSecrets is how many secrets the static reviewer reports. Limits.Findings does not count them: behind those that people dismissed another one is still found.
const MostSecrets = 200

// MostGrave is how many others it reports that have to be fixed or are about security, which Limits.Findings does not count either.
const MostGrave = 200
