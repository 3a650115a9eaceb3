// Package report renders the Markdown prloop posts; its tests read it back. A report answers in this order: what is the
// verdict and why, what has to be fixed, what happens next. Then come the details, what is optional, and the receipt
// (decision 42). Nothing is said where there is nothing to say. Rendering is pure: the same data gives the same bytes, in
// whatever order reviewers answered.
//
// Free text in Data is Markdown that the caller has made safe. Rendering does not trust that: one-line fields are
// folded to one line, blocks stand in quotes, code in fences longer than any in it, so that no field can leave its place.
package report

import "github.com/prloop/prloop/review"

// Data is what one review report shows.
type Data struct {
	Target review.Target
	// Round is 1-based; Rounds is the cap.
	Round, Rounds int
	// Outcome is how the run ended with this report; empty while it goes on. Reason says why, in a sentence.
	Outcome review.Outcome
	Reason  string
	// Verdict is nil when too little was reviewed to give one: a run that reviewed nothing is never green. Its counts and
	// sentences are of the findings as they were raised, which decide (decision 3); they stand in the receipt.
	Verdict *review.Verdict
	// Why is the sentence of the deciding rule, in distinct findings, which is all a reader meets.
	Why string
	// Distinct counts the distinct findings that count for the verdict.
	Distinct review.Counts
	// Findings are the distinct ones, joined by identity.
	Findings []Finding
	// Commands are the answers of commands that feed the report.
	Commands []Section
	// Since is what changed since the round before; nil in the first.
	Since *Since
	// Diverging is set when fixes make more work than they settle.
	Diverging *Diverging
	// Course is how the rounds of the run went, shown from the second round on.
	Course []RoundLine
	// Unverified are findings that were set aside: listed with the reason, not counted.
	Unverified []Finding
	// Dismissed are findings that people dismissed: listed in the receipt, and counted nowhere. DismissalNotes say which dismissals do
	// nothing, and why.
	Dismissed      []Dismissed
	DismissalNotes []string
	// Discussion is nil for a local range.
	Discussion *Discussion
	// Cured are findings of earlier reviews whose threads this one settles.
	Cured []Cured
	// Left are the threads of prloop's that an approval leaves open, for nothing shows that their problem is gone: each with its place and Thread.
	Left []Finding
	// Threadless is what an approval leaves open that has no thread; nil for nothing.
	Threadless *Threadless
	// Unsettled are those that count as unresolved, although nobody raised their finding again.
	Unsettled []Finding
	// ByApp is true where an app opened the pull request: nobody settles what prloop maintains there by resolving its thread.
	ByApp bool
	// Remarks are sentences the reader must know before anything is done; Notes those that only explain the receipt.
	Remarks, Notes []string
	Receipt        review.Receipt
}

// Threadless says who raised something grave, in an earlier run, that has no thread and that nobody raised again: by which commit, and the address of the report that tells it.
type Threadless struct {
	By             []string
	Commit, Report string
}

// Finding is one finding as a reader sees it.
type Finding struct {
	// ID is a name people may refer to, such as SEC-001.
	ID string
	// Identity is what prloop knows it by, or the first digits of that; empty where nobody may dismiss it.
	Identity string
	Priority review.Priority
	Category string
	// File is relative to the repository root; empty for a finding about no file.
	File string
	// Line and LineEnd are 1-based in the head version; 0 is unknown, LineEnd 0 means one line.
	Line, LineEnd int
	Title         string
	// Description is a Markdown block, Evidence is plain code in Language.
	Description, Evidence, Language string
	// Suggestions are what those who raised it would do.
	Suggestions []Suggestion
	// By are the reviewers, or commenters, who raised it. Also is what others than the first say of it.
	By   []string
	Also []Wording
	// Verified is true when Evidence stands in File at the reviewed commit, Confirmed when the verifier proved the finding.
	Verified, Confirmed bool
	// Must is true when it has to be fixed: it counts for the verdict and is no suggestion. It stands in the first table.
	// Open is true when its details are not folded; whoever composes the report chooses (decision 39). Only what must be fixed is open.
	Must, Open bool
	// Stuck is true when it was reported fixed and came back; it is not sent to the fixer again.
	Stuck bool
	// Waits is true when it was reported fixed and a person is to say whether it is; it is not sent to the fixer meanwhile.
	Waits bool
	// Said is true of what somebody said in a thread of prloop's, at Thread, and that does not say how grave it is: it may be nothing to fix, and resolving the thread settles it.
	Said bool
	// Standing says what became of it since the round before; empty in the first round.
	Standing Standing
	// OriginalScore is its reviewer's own score where prloop raised it to Score; 0 where it did not.
	Score, OriginalScore int
	// Cause is the commit of this run that wrote the lines, when a fix introduced the finding.
	Cause string
	// Reason says why an unverified finding is not counted, why a stuck one is stuck, or for whom one waits.
	Reason string
	// Look is true when nothing but a person settles it although it is not counted (decision 32).
	Look bool
	// Inline is true when a comment on its lines says what there is to say: the report lists it and gives no details (decision 51).
	// Thread is that comment's address, empty as long as nobody posted it.
	Inline bool
	Thread string
}

// Suggestion is what somebody who raised a finding would do.
type Suggestion struct {
	// By is the reviewer; empty where the finding has one suggestion.
	By string
	// Text is a Markdown block.
	Text string
}

// Wording is what one more of those who raised a finding says.
type Wording struct {
	By       string
	Priority review.Priority
	// Category is set where it is another than the finding's.
	Category string
	Title    string
	// Description is a Markdown block.
	Description string
}

// Standing is what became of a finding since the round before.
type Standing string

// The standings.
const (
	New   Standing = "new"
	Still Standing = "still there"
	Back  Standing = "came back"
)

// Since is what changed since an earlier round, beside the standing of the findings that are there.
type Since struct {
	// Round is the earlier one.
	Round int
	// Gone are findings of it that had to be fixed and were not found again.
	Gone []Gone
	// Unasked is how many more were not found again by others, while somebody who raised them gave no complete answer and has to.
	Unasked int
	// Doubted is how many more were not raised again, while somebody who had raised them does not say that they are gone.
	Doubted int
}

// Gone is a finding that was not found again.
type Gone struct {
	Priority review.Priority
	Title    string
	// Fixed is true when the fixer reported it fixed; Commit is then the commit, a full object id, if one is known.
	Fixed  bool
	Commit string
}

// Cured is a finding of an earlier review that is gone; Thread is the address of its thread.
type Cured struct{ Title, Thread string }

// Discussion sums up what people said (spec.md A3, A7).
type Discussion struct {
	Threads review.ThreadStats
	// Truncated is true when not all threads were read.
	Truncated          bool
	ChangesRequestedBy []review.ChangesRequestedBy
	// Impostors are logins whose comments carry prloop's marker without being prloop's: they were ignored (decision 2).
	Impostors []string
}

// Diverging says where a run's fixes do not settle, and what would take them back.
type Diverging struct {
	// Region is a file, or a file and its lines, such as src/cart.go:40-80.
	Region string
	// Sentence says what was seen there.
	Sentence string
	// Commits are the fix commits to take back, in the order they were made; full object ids.
	Commits []string
}

// RoundLine is one round of a run in figures of distinct findings.
type RoundLine struct {
	Round int
	// Head is the reviewed commit.
	Head           string
	Consensus      review.Conclusion
	P0, P1, P2, P3 int
	// Fixed and Rejected are the fixer's claims after this round; Stuck how many findings were stuck by then.
	Fixed, Rejected, Stuck int
}

// Dismissed is a finding that somebody dismissed.
type Dismissed struct {
	Priority review.Priority
	Title    string
	// File is empty for a finding about no file, Line 0 where it is not known.
	File string
	Line int
	// By is who dismissed it, empty for a comment in the code; MergedBy who merged that, where it had to be proven. Until is the last
	// day it holds, empty for no end; Why is a line.
	By, MergedBy, Until, Why string
	// Said is where the dismissal is written, such as .prloop-ignore:3. Thread is the address of the thread instead, in which a finding was settled.
	Said, Thread string
}
