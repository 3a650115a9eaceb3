package review

// ReviewResult is one review under the names of spec.md R1: what its eval engine and other readers of
// review.json expect.
type ReviewResult struct {
	ReviewID string `json:"review_id"`
	// Status is one of the statuses below.
	Status string `json:"status" jsonschema:"enum=ok,enum=truncated,enum=error"`
	// ModelsUsed are the models that answered, sorted.
	ModelsUsed []string `json:"model_used"`
	Warnings   []string `json:"warnings"`
	// Issues are the distinct findings that count, most urgent first.
	Issues []Issue `json:"issues"`
	// Summary says in a sentence what the review came to.
	Summary string `json:"summary"`
	// FilesReviewed are the changed files every changed line of which enough complete reviewers were given.
	FilesReviewed []string    `json:"files_reviewed"`
	Stats         ReviewStats `json:"stats"`
}

// The statuses of a review: everything was reviewed, a part was not, or nothing was.
const (
	StatusOK        = "ok"
	StatusTruncated = "truncated"
	StatusError     = "error"
)

// Issue is a finding under the names of spec.md R1.
type Issue struct {
	File string `json:"file"`
	// LineStart is 1-based in the head version of File; 0 when it is not known. LineEnd is inclusive.
	LineStart   int    `json:"line_start"`
	LineEnd     *int   `json:"line_end,omitempty"`
	Severity    string `json:"severity"`
	Category    string `json:"category"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Suggestion  string `json:"suggestion"`
	// Evidence is code quoted from File; Key is the same for the same finding in a later run.
	Evidence   string   `json:"evidence_snippet"`
	Key        string   `json:"dedupe_key"`
	Confidence *float64 `json:"confidence,omitempty"`
	Language   string   `json:"language,omitempty"`
}

// ReviewStats is what the agents of a review spent. Seconds are those of the slowest agent, LLMSeconds those of all waiting for
// models. What no agent told is not in the sums.
type ReviewStats struct {
	Tokens     int     `json:"tokens_used"`
	CostUSD    float64 `json:"cost_usd"`
	Seconds    float64 `json:"latency_seconds_e2e"`
	LLMSeconds float64 `json:"latency_seconds_llm"`
	LLMCalls   int     `json:"llm_calls"`
}

// Stages are the findings of a round under the names of spec.md R1 as they were at each stage of the judgement, so that each stage can be
// scored. Keys are distinct within a list.
type Stages struct {
	// Answered are those of all reviewers, nothing joined and nothing left out.
	Answered []Issue `json:"answered"`
	// SetAside are those that were set aside: their evidence is false, their own reviewer did not confirm them, or the verifier
	// refuted them.
	SetAside []Issue `json:"set_aside"`
	// Counted are the distinct ones that count for the verdict, Prominent those that stand in the open part of the report. Prominent
	// ones are not always counted, nor the other way round.
	Counted   []Issue `json:"counted"`
	Prominent []Issue `json:"prominent"`
}
