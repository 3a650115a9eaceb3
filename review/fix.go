package review

// CheckState is what became of one verify command.
type CheckState string

// The states of a verify command.
const (
	CheckPassed CheckState = "passed"
	CheckFailed CheckState = "failed"
	// CheckMissing: the command does not exist where it ran. No fixer can fix that.
	CheckMissing CheckState = "missing"
	CheckTimeout CheckState = "timeout"
	// CheckSkipped: it was not run, and Log says why.
	CheckSkipped CheckState = "skipped"
)

// Check is one verify command run on one commit (spec.md L1).
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

// Refusal is one rule of the push policy that a fix breaks (threats.md "Push policy").
type Refusal struct {
	// Rule is its stable name, such as protected-path.
	Rule string `json:"rule"`
	// Path is the file it is about; empty for a rule about the fix as a whole.
	Path string `json:"path,omitempty"`
	// Detail says what was found, in a few words.
	Detail string `json:"detail,omitempty"`
}

// Feedback tells a fixer why its work before was not taken, so that it can fix it (decision 6).
type Feedback struct {
	// Try is which of the fixer's tries this was, from 1.
	Try      int       `json:"try"`
	Refusals []Refusal `json:"refusals,omitempty"`
	// Checks are the verify commands that did not pass.
	Checks []Check `json:"checks,omitempty"`
}

// FixTerms are what a fixer's work is held to, in names and numbers.
type FixTerms struct {
	// Verify are the commands that run on the work once it is handed over. Detected is true when they were found in the repository's
	// files: one that fails on the reviewed head as well then keeps nothing back.
	Verify   []string `json:"verify,omitempty"`
	Detected bool     `json:"detected,omitempty"`
	// Checks is how often the fixer may have them run before that; 0 is never.
	Checks int `json:"checks,omitempty"`
	// Setup is the setup command that failed; nil when none did. Commands that need its packages then fail whatever the fixer does.
	Setup *Check `json:"setup,omitempty"`
	// Tests are files of tests near the change, the closest first; TestFiles is how many the repository has.
	Tests     []string `json:"tests,omitempty"`
	TestFiles int      `json:"testFiles"`
	// Files and Lines are how much all fixes of the run together may change; FilesUsed and LinesUsed what they change already.
	Files     int `json:"files"`
	Lines     int `json:"lines"`
	FilesUsed int `json:"filesUsed"`
	LinesUsed int `json:"linesUsed"`
}

// Rewritten is a range of lines at the head that a fix of this run wrote. From and To are 1-based and inclusive.
type Rewritten struct {
	File string `json:"file"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// Claim is what was said against a finding in an earlier round, by the fixer or by prloop. It is to be doubted, not a fact.
type Claim struct {
	FindingID string `json:"findingId"`
	// Kind is fixed or rejected, which the fixer says, or set-aside, which prloop does.
	Kind string `json:"kind"`
	// Text is the description or reason.
	Text string `json:"text"`
	// Commit is the full object id of the commit that is said to fix it; empty for a rejection.
	Commit string `json:"commit,omitempty"`
}

// The kinds of claims.
const (
	ClaimFixed    = "fixed"
	ClaimRejected = "rejected"
	ClaimSetAside = "set-aside"
)

// FixState is what became of one round's fix.
type FixState string

// The ends of a fix.
const (
	// FixPushed: the commits are on the pull request's branch.
	FixPushed FixState = "pushed"
	// FixPatch: the work is good and may not be pushed; it is handed over as a patch.
	FixPatch FixState = "patch"
	// FixRefused: it breaks a rule of the push policy.
	FixRefused FixState = "refused"
	// FixVerifyFailed: a verify command does not pass on it.
	FixVerifyFailed FixState = "verify-failed"
	// FixUnchanged: the fixer changed nothing, or fixed nothing that it was asked to fix, and what it changed is not taken.
	FixUnchanged FixState = "unchanged"
	// FixSuperseded: somebody else pushed first.
	FixSuperseded FixState = "superseded"
	// FixFailed: the fixer gave no answer.
	FixFailed FixState = "failed"
)

// FixOutcome is one round's fix from the fixer's answer to the branch.
type FixOutcome struct {
	State FixState `json:"state"`
	// Reason says why it is not pushed; empty when it is.
	Reason string `json:"reason,omitempty"`
	// Base is the reviewed head, Head the pushed one; empty when nothing was pushed.
	Base string `json:"base"`
	Head string `json:"head,omitempty"`
	// NewerHead is somebody else's commit that came first.
	NewerHead string `json:"newerHead,omitempty"`
	// Result is the fixer's settled answer: each id it was asked for stands in it once.
	Result  *FixResult  `json:"result,omitempty"`
	Commits []FixCommit `json:"commits"`
	// Setup are the commands that made ready what Checks need; empty when that was ready before. The last one may have failed.
	Setup []Check `json:"setup,omitempty"`
	// Checks ran before the push, PushedChecks on the pushed head.
	Checks       []Check   `json:"checks,omitempty"`
	PushedChecks []Check   `json:"pushedChecks,omitempty"`
	Refusals     []Refusal `json:"refusals,omitempty"`
	// Tests are the tests that the fix changes, adds, skips or deletes, in words.
	Tests []string `json:"tests,omitempty"`
	// Tries is how often the fixer was asked.
	Tries int `json:"tries"`
	// Files and Lines are how much it changes.
	Files int          `json:"files"`
	Lines int          `json:"lines"`
	Notes []string     `json:"notes,omitempty"`
	Agent AgentReceipt `json:"agent"`
	// URLs are the comments that report it, in order.
	URLs []string `json:"urls,omitempty"`
}

// RoundResult is one line of a run's history.
type RoundResult struct {
	Round int `json:"round"`
	// Head is the reviewed commit.
	Head      string  `json:"head"`
	Consensus *string `json:"consensus"`
	Issues    Counts  `json:"issues"`
	Distinct  int     `json:"distinct"`
	// DistinctIssues counts the distinct findings of Issues; nil in rounds that were recorded before there was such a count.
	DistinctIssues *Counts `json:"distinctIssues,omitempty"`
	// Stuck is how many distinct findings are stuck.
	Stuck int `json:"stuck"`
	// Introduced is the weight of the new findings on lines that fixes of this run wrote.
	Introduced int `json:"introduced"`
	// Agents are the receipts of who took part.
	Agents []AgentReceipt `json:"agents"`
	// Fix is what the fixer did after the review; nil when it was not asked.
	Fix *FixOutcome `json:"fix,omitempty"`
}

// Shown is what people are told of how many findings a round had: distinct ones where their count is known.
func (r RoundResult) Shown() Counts {
	if r.DistinctIssues == nil {
		return r.Issues
	}
	return *r.DistinctIssues
}
