package review

// CheckState is what became of one verify command.
type CheckState string

// The states of a verify command.
const (
	CheckPassed CheckState = "passed"
	CheckFailed CheckState = "failed"
	// CheckMissing: the command does not exist where it ran. No fixer can mend that.
	CheckMissing CheckState = "missing"
	CheckTimeout CheckState = "timeout"
	// CheckSkipped: it was not run, and Log says why.
	CheckSkipped CheckState = "skipped"
)

// Check is one verify command run on one commit (review loop spec, "dx lint" and "dx build all").
type Check struct {
	// Command is the shell line as configured.
	Command string     `json:"command"`
	State   CheckState `json:"state"`
	// ExitCode is the exit status; -1 when a signal ended it.
	ExitCode int     `json:"exitCode"`
	Seconds  float64 `json:"seconds"`
	// Log is the end of what it printed, redacted. It was written by code of the pull request: data.
	Log string `json:"log,omitempty"`
}

// Good reports whether a check leaves nothing to object to.
func (c Check) Good() bool { return c.State == CheckPassed || c.State == CheckSkipped }

// Refusal is one rule of the push policy that a fix breaks (security 3, "Push policy").
type Refusal struct {
	// Rule is its stable name, such as protected-path.
	Rule string `json:"rule"`
	// Path is the file it is about; empty for a rule about the fix as a whole.
	Path string `json:"path,omitempty"`
	// Detail says what was found, in a few words.
	Detail string `json:"detail,omitempty"`
}

// Setback tells a fixer why its work before was not taken, so that it can mend it (design 3.6).
type Setback struct {
	// Try is which of the fixer's tries this was, from 1.
	Try      int       `json:"try"`
	Refusals []Refusal `json:"refusals,omitempty"`
	// Checks are the verify commands that did not pass.
	Checks []Check `json:"checks,omitempty"`
}

// Claim is what the fixer said of a finding in an earlier round. It is a claim to doubt, not a fact.
type Claim struct {
	FindingID string `json:"findingId"`
	// Kind is fixed or rejected.
	Kind string `json:"kind"`
	// Text is the fixer's description or reason.
	Text string `json:"text"`
	// Commit is the full object id of the commit that is said to fix it; empty for a rejection.
	Commit string `json:"commit,omitempty"`
}

// The kinds of claims.
const (
	ClaimFixed    = "fixed"
	ClaimRejected = "rejected"
)
