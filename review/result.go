package review

import "strings"

// Counts is how many findings there are of each priority, as spec.md A2 and A3 spell it.
type Counts struct {
	P0 int `json:"p0_blocking" jsonschema:"minimum=0"`
	P1 int `json:"p1_critical" jsonschema:"minimum=0"`
	P2 int `json:"p2_important" jsonschema:"minimum=0"`
	P3 int `json:"p3_suggestion" jsonschema:"minimum=0"`
}

// Count counts findings by priority. A priority outside P0-P3 counts nowhere: decoding refuses it earlier.
func Count(findings []Finding) Counts {
	var c Counts
	for _, f := range findings {
		switch f.Priority {
		case P0:
			c.P0++
		case P1:
			c.P1++
		case P2:
			c.P2++
		case P3:
			c.P3++
		}
	}
	return c
}

// Add returns the sum.
func (c Counts) Add(d Counts) Counts {
	return Counts{c.P0 + d.P0, c.P1 + d.P1, c.P2 + d.P2, c.P3 + d.P3}
}

// Total is the number of findings of any priority.
func (c Counts) Total() int { return c.P0 + c.P1 + c.P2 + c.P3 }

// Conclusion is what findings of these counts come to by themselves (spec.md A6).
func (c Counts) Conclusion() Conclusion {
	switch {
	case c.P0 > 0:
		return NeedsMajorWork
	case c.P1 > 0 || c.P2 > 0:
		return RequestChanges
	}
	return Approve
}

// Conclusion is a verdict in the words of spec.md A6.
type Conclusion string

// The three verdicts (spec.md A6).
const (
	Approve        Conclusion = "approve"
	RequestChanges Conclusion = "request_changes"
	NeedsMajorWork Conclusion = "needs_major_work"
)

// ReviewerResult is what a reviewer answers (spec.md A2). Issues and Conclusion are the reviewer's own claim: prloop recounts
// the findings; a claim above them only says that a person has to look (decision 34).
type ReviewerResult struct {
	Agent      string     `json:"agent"`
	PRNumber   int        `json:"prNumber" jsonschema:"minimum=0"`
	Conclusion Conclusion `json:"conclusion" jsonschema:"enum=approve,enum=request_changes,enum=needs_major_work"`
	Issues     Counts     `json:"issues"`
	Findings   []Finding  `json:"findings"`
	// Omitted is how many more were found than the limit on findings let through; the report says so.
	Omitted int `json:"omitted,omitempty" jsonschema:"minimum=0"`
	// Earlier says what became of findings of earlier rounds. It is a claim: it closes nothing, and what is said to remain is not settled.
	Earlier []EarlierVerdict `json:"earlier,omitempty"`
	// FullReport is Markdown without full diffs.
	FullReport string `json:"fullReport"`
}

// EarlierVerdict is what a reviewer says became of a finding of an earlier round.
type EarlierVerdict struct {
	// FindingID is the id under which the request shows the finding.
	FindingID string `json:"findingId"`
	// Verdict is fixed when the code does not show the problem, remains when it does, and unsure when the reviewer cannot tell.
	Verdict string `json:"verdict"`
	// Why is one sentence.
	Why string `json:"why,omitempty"`
}

// What a reviewer may say of an earlier finding.
const (
	EarlierFixed   = "fixed"
	EarlierRemains = "remains"
	EarlierUnsure  = "unsure"
)

// CommentsResult is what the comments analyzer answers (spec.md A3).
type CommentsResult struct {
	Agent       string      `json:"agent"`
	PRNumber    int         `json:"prNumber" jsonschema:"minimum=0"`
	ReviewState ReviewState `json:"reviewState"`
	Stats       ThreadStats `json:"stats"`
	// ThreadsTruncated is true when prloop's bounds on threads or comments were hit, so that not all were seen.
	ThreadsTruncated bool      `json:"threadsTruncated"`
	Issues           Counts    `json:"issues"`
	PendingIssues    []Finding `json:"pendingIssues"`
	FullReport       string    `json:"fullReport"`
}

// ReviewState says whether people asked for changes (spec.md A3).
type ReviewState struct {
	// HasChangesRequested is true when the newest decisive review of at least one person asks for changes. Rule 0 only
	// fires for those in ChangesRequestedBy whose association is OWNER, MEMBER or COLLABORATOR.
	HasChangesRequested bool                 `json:"hasChangesRequested"`
	ChangesRequestedBy  []ChangesRequestedBy `json:"changesRequestedBy"`
}

// Collaborator is the author association of somebody who may write and is no member.
const Collaborator = "COLLABORATOR"

// MayBlock reports whether somebody with this author association may block by requesting changes: owners, members and
// collaborators may (spec.md A6, decision 9).
func MayBlock(association string) bool {
	switch strings.ToUpper(strings.TrimSpace(association)) {
	case "OWNER", "MEMBER", Collaborator:
		return true
	}
	return false
}

// ChangesRequestedBy is one person who asked for changes.
type ChangesRequestedBy struct {
	Login string `json:"login"`
	// Association is GitHub's author association, such as OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR or NONE.
	Association string `json:"association"`
}

// ThreadStats counts review threads (spec.md A3).
type ThreadStats struct {
	Total      int `json:"totalThreads" jsonschema:"minimum=0"`
	Resolved   int `json:"resolvedThreads" jsonschema:"minimum=0"`
	Unresolved int `json:"unresolvedThreads" jsonschema:"minimum=0"`
}
