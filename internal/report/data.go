// Package report renders the Markdown prloop posts; its tests read it back. A report answers in this order: what is the
// verdict, why, what has to be done, what was found, what was reviewed. Rendering is pure: the same data gives the same
// bytes, in whatever order reviewers answered.
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
	// Verdict is nil when too little was reviewed to give one : a run that reviewed nothing is never green.
	Verdict *review.Verdict
	// Findings are the distinct ones, joined by identity; the verdict's counts are of the raw ones (decision 3).
	Findings []Finding
	// Stuck are findings that were reported fixed and came back; they are not sent to the fixer again.
	Stuck []Finding
	// Diverging is set when fixes make more work than they settle.
	Diverging *Diverging
	// Course is how the rounds of the run went, shown from the second round on.
	Course []RoundLine
	// Unverified are findings that were set aside: listed with the reason, not counted.
	Unverified []Finding
	// Discussion is nil for a local range.
	Discussion *Discussion
	// Notes are sentences the reader should know, such as what was cut.
	Notes   []string
	Receipt review.Receipt
}

// Finding is one finding as a reader sees it.
type Finding struct {
	// ID is a name people may refer to, such as SEC-001.
	ID       string
	Priority review.Priority
	Category string
	// File is relative to the repository root; empty for a finding about no file.
	File string
	// Line and LineEnd are 1-based in the head version; 0 is unknown, LineEnd 0 means one line.
	Line, LineEnd int
	Title         string
	// Description and Suggestion are Markdown blocks, Evidence is plain code in Language.
	Description, Suggestion, Evidence, Language string
	// By are the reviewers, or commenters, who raised it.
	By []string
	// Verified is true when Evidence stands in File at the reviewed commit, Confirmed when the verifier proved the finding.
	Verified, Confirmed bool
	// Open is true when it stands in the first list, which is chosen by whoever composes the report (decision 39); the others are
	// collapsed.
	Open bool
	// OriginalScore is its reviewer's own score where prloop raised it to Score; 0 where it did not.
	Score, OriginalScore int
	// Cause is the commit of this run that wrote the lines, when a fix introduced the finding.
	Cause string
	// Reason says why an unverified finding is not counted, or why a stuck one is stuck.
	Reason string
	// Look is true when nothing but a person settles it although it is not counted (decision 32).
	Look bool
}

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

// RoundLine is one round of a run in figures.
type RoundLine struct {
	Round int
	// Head is the reviewed commit.
	Head           string
	Consensus      review.Conclusion
	P0, P1, P2, P3 int
	// Fixed and Rejected are the fixer's claims after this round; Stuck how many findings were stuck by then.
	Fixed, Rejected, Stuck int
}
