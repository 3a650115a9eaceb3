package report

import "github.com/prloop/prloop/review"

// FixState is what became of a fixer's work in one round.
type FixState = review.FixState

// The states.
const (
	FixPushed       = review.FixPushed
	FixPatch        = review.FixPatch // handed over as edits (decision 21)
	FixRefused      = review.FixRefused
	FixVerifyFailed = review.FixVerifyFailed
	FixUnchanged    = review.FixUnchanged
	FixSuperseded   = review.FixSuperseded
	FixFailed       = review.FixFailed
)

// FixData is what one fix report shows. Free text has been made safe by the caller, as in Data.
type FixData struct {
	Target        review.Target
	Round, Rounds int
	// Outcome is how the run ended with this report; empty while it goes on. Reason says why, in a sentence.
	Outcome review.Outcome
	Reason  string
	State   FixState
	// Base is the reviewed head the fix stands on; Head what was pushed, empty when nothing was; NewerHead what the branch
	// was found at instead, when it had moved. Full object ids.
	Base, Head, NewerHead string
	// Fixed, Rejected and Missing are the findings the fixer was asked to fix, each in one of them (decision 5). Missing
	// are those it said nothing usable about.
	Fixed    []FixedItem
	Rejected []RejectedItem
	Missing  []RejectedItem
	// Noticed is what the fixer saw that no finding names, and left alone.
	Noticed []NoticedItem
	// Deferred counts optional findings the fixer left for later.
	Deferred int
	// Commits are those of the fix as prloop wrote them, in their order.
	Commits []review.FixCommit
	// Files and Lines say how much the fix touches; lines are those added and removed.
	Files, Lines int
	// Checks are the verify commands on the fix before it was pushed; PushedChecks on the pushed head, by which a push
	// that met other settings is found out.
	Checks, PushedChecks []review.Check
	// Refusals are the rules of the push policy the last try broke.
	Refusals []review.Refusal
	// Tests name the tests that the fix touches, one line each.
	Tests []string
	// Patch is the fix as edits to the files at Base, shown for the state patch; see Edits. PatchLeft is how many more
	// edits there are than are shown. PatchFile is the name of the whole patch among the run's artifacts, shown whenever
	// nothing was pushed.
	Patch     []Edit
	PatchLeft int
	PatchFile string
	// Tries is how often the fixer was asked.
	Tries int
	// Remarks are sentences the reader must know before anything else; Notes those that only explain the receipt.
	Remarks, Notes []string
	// GitHubToken is true when the push was made with the token of an Actions job, which starts no CI (decision 14).
	GitHubToken bool
	// Agent is the fixer's line of the receipt.
	Agent review.AgentReceipt
}

// Item is a finding that the fixer was asked about.
type Item struct {
	Title string
	// Priority is empty when it is not known.
	Priority review.Priority
	// File and Line are where it stands at the reviewed head; empty and 0 when that is not known.
	File string
	Line int
}

// FixedItem is one finding the fixer says it fixed.
type FixedItem struct {
	Item
	// Commit is the object id of the commit that fixes it; Text what was done, in a line.
	Commit, Text string
	// Tests says what covers the fix or why no test was added, Risk what remains; each a line, or empty.
	Tests, Risk string
}

// NoticedItem is something the fixer saw and did not change.
type NoticedItem struct {
	// File is relative to the repository's root, Line 1-based; empty and 0 when it is about none.
	File string
	Line int
	Text string
}

// RejectedItem is one finding that was not fixed.
type RejectedItem struct {
	Item
	// Reason is why, in a line.
	Reason string
}

// asked is how many findings were to be fixed.
func (d FixData) asked() int { return len(d.Fixed) + len(d.Rejected) + len(d.Missing) }
