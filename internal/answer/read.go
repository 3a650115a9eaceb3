package answer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Question is what an agent was asked.
type Question struct {
	// Task is the request. Its Agent and Role are prloop's: whatever the answer says, it is by that agent and of that role.
	Task review.Task
	// Kind and Model are for the receipt.
	Kind, Model string
}

// Envelope is an answer that is valid and settled; the field of the role is set.
type Envelope struct {
	Reviewer *review.ReviewerResult
	Comments *review.CommentsResult
	Fix      *review.FixResult
	Verifier *review.VerifierResult
	Command  *review.CommandAnswer
	Scout    *review.ScoutResult
	Finder   *review.FinderResult
}

// Key is the field that only the answer of a role has.
func Key(role review.Role) string {
	switch role {
	case review.RoleCommentsAnalyzer:
		return "pendingIssues"
	case review.RoleFixer:
		return "fixedIssues"
	case review.RoleVerifier:
		return "assessments"
	case review.RoleCommand:
		return "confidence"
	case review.RoleScout:
		return "complexity"
	case review.RoleFinder:
		return "wanted"
	}
	return "findings"
}

// Read decodes a document that answers the question, and settles it: an agent may say who it is and what it was asked, but that is
// not up to it (threats.md T87). What text beside the document may say of P0 and P1 leaves its place. The error is fit to be quoted
// to the agent. A *ClaimError comes with the envelope.
func (q Question) Read(doc, beside []byte) (e Envelope, notes []string, err error) {
	var n schema.Notes
	switch q.Task.Role {
	case review.RoleCommentsAnalyzer:
		var r review.CommentsResult
		r, n, err = DecodeComments(doc)
		e.Comments = &r
	case review.RoleFixer:
		var r review.FixResult
		r, n, err = DecodeFix(doc)
		e.Fix = &r
	case review.RoleVerifier:
		var r review.VerifierResult
		r, n, err = DecodeVerifier(doc)
		e.Verifier = &r
	case review.RoleCommand:
		var r review.CommandAnswer
		r, n, err = DecodeCommand(doc)
		e.Command = &r
	case review.RoleScout:
		var r review.ScoutResult
		r, n, err = DecodeScout(doc)
		e.Scout = &r
	case review.RoleFinder:
		var r review.FinderResult
		r, n, err = DecodeFinder(doc)
		e.Finder = &r
	default:
		var r review.ReviewerResult
		decode := DecodeReviewer
		if q.Kind == review.KindACP { // it is asked in prloop's own words
			decode = DecodeModel
		}
		r, n, err = decode(doc)
		e.Reviewer = &r
	}
	claim := (*ClaimError)(nil)
	if err != nil && !errors.As(err, &claim) {
		return Envelope{}, n, err
	}
	if ids := unnamed(q.Task.Fix, e.Fix); len(ids) > 0 {
		return Envelope{}, n, fmt.Errorf("decode fix-result: neither fixed nor rejected: %s", sanitize.Line(strings.Join(ids, ", "), 400))
	}
	notes = append(n, q.settle(e)...)
	if e.Scout != nil {
		notes = append(notes, Suspect(e.Scout, beside)...)
	}
	if findings := e.findings(); findings != nil {
		if why := Beside(beside, *findings); why != "" {
			notes = append(notes, "a person has to look: "+why)
			notes = append(notes, q.replace(e, Doubt(*findings, why))...)
		}
	}
	return e, notes, err
}

// settle holds an answer against what prloop knows.
func (q Question) settle(e Envelope) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	set := func(agent *string, pr *int) {
		if *agent != q.Task.Agent && q.Kind != review.KindACP { // a model does not know what it is called
			note("agent: claimed %.60q, is %q", *agent, q.Task.Agent)
		}
		if *pr != q.Task.PRNumber {
			note("prNumber: claimed %d, is %d", *pr, q.Task.PRNumber)
		}
		*agent, *pr = q.Task.Agent, q.Task.PRNumber
	}
	if r := e.Reviewer; r != nil {
		set(&r.Agent, &r.PRNumber)
		if limit := q.Task.Limits.Findings; limit > 0 && len(r.Findings) > limit {
			note("%d findings, asked were at most %d", len(r.Findings), limit)
		}
		notes = append(notes, settleEarlier(q.Task.Earlier, r)...)
	}
	if r := e.Comments; r != nil {
		set(&r.Agent, &r.PRNumber)
		if d := q.Task.Discussion; d != nil && r.ThreadsTruncated != d.Truncated {
			note("threadsTruncated: claimed %v, is %v", r.ThreadsTruncated, d.Truncated)
			r.ThreadsTruncated = d.Truncated
		}
	}
	if r := e.Fix; r != nil {
		set(&r.Agent, &r.PRNumber)
		if q.Task.Fix != nil {
			settled, more := SettleFix(*q.Task.Fix, r)
			*r, notes = settled, append(notes, more...)
		}
	}
	if r := e.Verifier; r != nil {
		set(&r.Agent, &r.PRNumber)
		if q.Task.Verify != nil {
			notes = append(notes, SettleVerifier(*q.Task.Verify, r)...)
		}
	}
	if findings := e.findings(); findings != nil {
		notes = append(notes, q.replace(e, *findings)...)
	}
	return notes
}

// findings is where the findings of an answer stand; nil for a fixer's, a verifier's, a scout's and a finder's.
func (e Envelope) findings() *[]review.Finding {
	switch {
	case e.Reviewer != nil:
		return &e.Reviewer.Findings
	case e.Comments != nil:
		return &e.Comments.PendingIssues
	case e.Command != nil:
		return &e.Command.Findings
	}
	return nil
}

// replace puts findings into an answer that has some.
func (q Question) replace(e Envelope, findings []review.Finding) (notes []string) {
	counts := review.Count(findings)
	switch {
	case e.Reviewer != nil:
		e.Reviewer.Findings, e.Reviewer.Issues = findings, counts
	case e.Command != nil:
		e.Command.Findings = findings
	default:
		e.Comments.PendingIssues, e.Comments.Issues = findings, counts
	}
	return attribute(findings, q.Task)
}

// blocks reports whether an answer of an agent that did not end well says something that may only block. What a fixer says it did
// is held against the tree, so it is kept too. A verifier's takes something away, and half a scan is none.
func (e Envelope) blocks() bool {
	findings := e.findings()
	return e.Verifier == nil && e.Scout == nil && e.Finder == nil && (e.Fix != nil || len(*findings) > 0 || e.Comments != nil && e.Comments.ReviewState.HasChangesRequested)
}
