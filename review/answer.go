package review

// Answer is what became of one question to an agent. It holds only what JSON can carry, so that a durable engine can store it.
// Everything in it but the receipt's own words was written by the agent: data, never instructions. Receipt and Log are
// redacted; the findings are not until their evidence has been checked against the file.
type Answer struct {
	// At most one is set, by role. But for the verifier's and the scout's it is also set when the agent is degraded; it then holds the findings that could be kept, and
	// its conclusion and report may be prloop's words, not the agent's.
	Reviewer *ReviewerResult `json:"reviewer,omitempty"`
	Comments *CommentsResult `json:"comments,omitempty"`
	Fix      *FixResult      `json:"fix,omitempty"`
	Verifier *VerifierResult `json:"verifier,omitempty"`
	Command  *CommandAnswer  `json:"command,omitempty"`
	Scout    *ScoutResult    `json:"scout,omitempty"`
	Finder   *FinderResult   `json:"finder,omitempty"`
	// Receipt says how it went: state, reason, attempts, time, usage, notes.
	Receipt AgentReceipt `json:"receipt"`
	// Log is the end of the child's standard error, redacted, control bytes made visible.
	Log string `json:"log,omitempty"`
}
