package review

import (
	"strings"
	"time"
)

// Finding is one problem somebody sees in a pull request (spec.md A1), with the optional fields of prloop's own.
type Finding struct {
	// ID is the reviewer's own name for the finding, such as SEC-001. It is kept for display; identity across
	// reviewers and rounds is Fingerprint and the matching rules, never this.
	ID string `json:"id"`
	// Priority is the urgency, P0 (blocking) to P3 (suggestion).
	Priority Priority `json:"priority" jsonschema:"enum=P0,enum=P1,enum=P2,enum=P3"`
	// Category is what kind of problem it is; see the Category constants for the known ones.
	Category string `json:"category"`
	// File is slash-separated and relative to the repository root; empty when the finding is about no file.
	File string `json:"file"`
	// Line is 1-based in the head version of File; nil when the reviewer did not know it.
	Line *int `json:"line"`
	// Title is one line.
	Title string `json:"title"`
	// Description says why it is a problem. Markdown.
	Description string `json:"description"`
	// Suggestion says what to do about it. Markdown; never a block GitHub could commit.
	Suggestion string `json:"suggestion"`
	// Source says who found it.
	Source Source `json:"source"`

	// Score is the 1-10 rubric; 0 means the reviewer gave none.
	Score int `json:"score,omitempty" jsonschema:"minimum=1,maximum=10"`
	// OriginalScore is the reviewer's own score where prloop's rules on scores raised it (spec.md D3.1); 0 where they did not.
	OriginalScore int `json:"originalScore,omitempty" jsonschema:"minimum=1,maximum=10"`
	// Confidence is 0.0-1.0; nil means the reviewer gave none.
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"minimum=0,maximum=1"`
	// Evidence is code quoted from File that shows the problem. It must stand in
	// that file at the reviewed commit, white space folded.
	Evidence string `json:"evidence,omitempty"`
	// LineEnd is the last line of the range, 1-based and inclusive; nil when the finding is about one line.
	LineEnd *int `json:"lineEnd,omitempty"`
	// Unconfirmed is why the reviewer itself does not stand by the finding: a second look did not confirm it. It is not counted
	// then; but no model's second look makes a P0 or P1 go away.
	Unconfirmed string `json:"unconfirmed,omitempty"`
	// Fingerprint is computed by prloop: category, file and evidence. What an agent sends here is dropped.
	Fingerprint string `json:"fingerprint,omitempty"`
	// ValueHash tells one secret, or another grave finding of a rule, from the next: a slow hash of the lines it stands in, computed by prloop, as models and
	// people are shown a mask in its place. What an agent sends here is dropped.
	ValueHash string `json:"valueHash,omitempty"`
	// Assessment is what the verifier said, with its fact checked by prloop. What an agent sends here is dropped.
	Assessment *Assessment `json:"assessment,omitempty"`
	// Cause is set when the lines were written by a fix of this run.
	Cause *Cause `json:"cause,omitempty"`
	// Language is the programming language of File, lower case.
	Language string `json:"language,omitempty"`
	// Parts are the findings of which one that stands for Several is made, as it was made. They are no part of an answer.
	Parts []Finding `json:"-"`
	// Quoted are the first and the last line where Evidence stands in the head version, as prloop found it; zeros where that is not
	// one place. It is no part of an answer.
	Quoted [2]int `json:"-"`
	// Altered is true where the file had Evidence before, and the change adds these lines, or changes others near them, as prloop found it. It is no part of an answer.
	Altered bool `json:"-"`
	// Named are the first and the last line that the reviewer gave, where prloop took those of the quote instead; else zeros. They are no part of an answer.
	Named [2]int `json:"-"`
}

// PrefixSeveral begins the ids of findings that stand for several. An id of an agent does not begin so.
const PrefixSeveral = "ELEVATED-"

// Several reports whether the finding stands for several (threats.md T857): it has no line, no evidence and no words of one of them, and nothing but
// Fingerprint, which is made of all, tells which one it is.
func (f Finding) Several() bool { return strings.HasPrefix(f.ID, PrefixSeveral) }

// Source says who raised a finding (spec.md A1).
type Source struct {
	// Type is "agent" for reviewers, "comment" or "review" for findings made of GitHub threads.
	Type string `json:"type"`
	// Name is the reviewer's name or the commenter's login.
	Name string `json:"name"`
	// ReviewID is the GitHub thread or comment id when there is one.
	ReviewID *string `json:"reviewId"`
	// Timestamp is RFC 3339 in UTC.
	Timestamp time.Time `json:"timestamp"`
}

// Cause names the commit of this run that wrote the lines a finding is on.
type Cause struct {
	// Kind is "introduced_by_fix".
	Kind string `json:"kind"`
	// Commit is the full object id of the fix commit.
	Commit string `json:"commit"`
}

// Categories prloop knows (spec.md R1, plus tests and design for the lenses of the builtin reviewer).
// Others are accepted and shown as they are.
const (
	CategorySecurity      = "security"
	CategoryBug           = "bug"
	CategoryLogic         = "logic"
	CategoryErrorHandling = "error_handling"
	CategoryPerformance   = "performance"
	CategoryStyle         = "style"
	CategoryTests         = "tests"
	CategoryDesign        = "design"
)
