package review

// FixPayload is what the orchestrator hands the fixer (spec.md A4).
type FixPayload struct {
	PRNumber       int       `json:"prNumber" jsonschema:"minimum=0"`
	Round          int       `json:"round" jsonschema:"minimum=1,maximum=3"`
	IssuesToFix    []Finding `json:"issuesToFix"`
	OptionalIssues []Finding `json:"optionalIssues"`
}

// FixResult is what the fixer answers (spec.md A5). Invariant: each id of IssuesToFix stands exactly once in FixedIssues or
// RejectedIssues; deferred counts optional issues only (decision 5).
type FixResult struct {
	Agent          string          `json:"agent"`
	PRNumber       int             `json:"prNumber" jsonschema:"minimum=0"`
	Summary        FixSummary      `json:"summary"`
	FixedIssues    []FixedIssue    `json:"fixedIssues"`
	RejectedIssues []RejectedIssue `json:"rejectedIssues"`
	Commits        []FixCommit     `json:"commits"`
	// Noticed is what the fixer saw that no finding names, and left alone. It is reported and never counted.
	Noticed []Notice `json:"noticed,omitempty"`
}

// Notice is something a fixer saw beside the findings and did not change.
type Notice struct {
	// File is relative to the repository's root; empty for what is about no file. Line is 1-based, nil when it is about no line.
	File string `json:"file,omitempty"`
	Line *int   `json:"line,omitempty"`
	Text string `json:"text"`
}

// FixSummary counts a fixer's work (spec.md A5).
type FixSummary struct {
	Fixed    int `json:"fixed" jsonschema:"minimum=0"`
	Rejected int `json:"rejected" jsonschema:"minimum=0"`
	Deferred int `json:"deferred" jsonschema:"minimum=0"`
}

// FixedIssue is one finding the fixer says it fixed, and in which commit (spec.md A5).
type FixedIssue struct {
	FindingID   string `json:"findingId"`
	CommitSHA   string `json:"commitSha"`
	Description string `json:"description"`
	// Tests says which tests cover the fix, or why none was added; Risk what may still go wrong. Both may be empty.
	Tests string `json:"tests,omitempty"`
	Risk  string `json:"risk,omitempty"`
}

// RejectedIssue is one finding the fixer did not fix, and why (spec.md A5).
type RejectedIssue struct {
	FindingID string `json:"findingId"`
	Reason    string `json:"reason"`
}

// FixCommit is one commit the fixer made (spec.md A5).
type FixCommit struct {
	SHA     string `json:"sha"`
	Message string `json:"message"`
}
