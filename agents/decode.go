package agents

import (
	"encoding/json"
	"fmt"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
)

// envelope is a decoded answer; the field of the role is set.
type envelope struct {
	reviewer *review.ReviewerResult
	comments *review.CommentsResult
	fix      *review.FixResult
}

// decode reads the envelope of a role strictly.
func decode(role review.Role, doc []byte) (e envelope, notes []string, err error) {
	var n wire.Notes
	switch role {
	case review.RoleCommentsAnalyzer:
		var r review.CommentsResult
		r, n, err = wire.DecodeComments(doc)
		e.comments = &r
	case review.RoleFixer:
		var r review.FixResult
		r, n, err = wire.DecodeFix(doc)
		e.fix = &r
	default:
		var r review.ReviewerResult
		r, n, err = wire.DecodeReviewer(doc)
		e.reviewer = &r
	}
	if err != nil {
		if other := roleOf(doc); other != "" && other != shape(role) {
			err = fmt.Errorf("this is the envelope of the %s, wanted is that of the %s", other, shape(role))
		}
		return envelope{}, n, err
	}
	return e, n, nil
}

// shape names the role whose envelope a role answers with.
func shape(role review.Role) review.Role {
	if role == review.RoleCommentsAnalyzer || role == review.RoleFixer {
		return role
	}
	return review.RoleReviewer
}

// roleOf guesses whose envelope a refused document is, by the field only that one has; a program that mixes up its tasks
// is told so rather than a list of missing fields.
func roleOf(doc []byte) review.Role {
	var keys map[string]json.RawMessage
	if json.Unmarshal(doc, &keys) != nil {
		return ""
	}
	var found review.Role
	for key, role := range map[string]review.Role{"pendingIssues": review.RoleCommentsAnalyzer, "fixedIssues": review.RoleFixer, "findings": review.RoleReviewer} {
		if _, ok := keys[key]; ok {
			if found != "" {
				return "" // of two roles at once: the list of faults says more
			}
			found = role
		}
	}
	return found
}

// settle holds a valid answer against what prloop knows (threats.md T87): an agent may say who it is and what it was asked,
// but that is not up to it.
func (e envelope) settle(spec Spec, task review.Task) (notes []string) {
	switch {
	case e.reviewer != nil:
		r := e.reviewer
		notes = identify(&r.Agent, &r.PRNumber, spec, task)
		notes = append(notes, wire.Attribute(r.Findings, spec.Role, spec.Name, task.Discussion)...)
		if limit := task.Limits.Findings; limit > 0 && len(r.Findings) > limit {
			notes = append(notes, fmt.Sprintf("%d findings, asked were at most %d", len(r.Findings), limit))
		}
	case e.comments != nil:
		r := e.comments
		notes = identify(&r.Agent, &r.PRNumber, spec, task)
		notes = append(notes, wire.Attribute(r.PendingIssues, spec.Role, spec.Name, task.Discussion)...)
		if d := task.Discussion; d != nil && r.ThreadsTruncated != d.Truncated {
			notes = append(notes, fmt.Sprintf("threadsTruncated: claimed %v, is %v", r.ThreadsTruncated, d.Truncated))
			r.ThreadsTruncated = d.Truncated
		}
	case e.fix != nil:
		notes = identify(&e.fix.Agent, &e.fix.PRNumber, spec, task)
	}
	return notes
}

func identify(agent *string, pr *int, spec Spec, task review.Task) (notes []string) {
	if *agent != spec.Name {
		notes = append(notes, fmt.Sprintf("agent: claimed %q, is %q", visible(*agent, 60), spec.Name))
		*agent = spec.Name
	}
	if *pr != task.PRNumber {
		notes = append(notes, fmt.Sprintf("prNumber: claimed %d, is %d", *pr, task.PRNumber))
		*pr = task.PRNumber
	}
	return notes
}

// settleFix brings a fixer's answer to the invariant of spec.md A5: each finding to fix once, nothing else, counts recomputed.
func (e envelope) settleFix(task review.Task) (notes []string) {
	if e.fix == nil || task.Fix == nil {
		return nil
	}
	agent := e.fix.Agent
	*e.fix, notes = wire.SettleFix(*task.Fix, e.fix)
	e.fix.Agent, e.fix.PRNumber = agent, task.PRNumber
	return notes
}

// findings are those of the envelope, whatever its role.
func (e envelope) findings() []review.Finding {
	switch {
	case e.reviewer != nil:
		return e.reviewer.Findings
	case e.comments != nil:
		return e.comments.PendingIssues
	}
	return nil
}

// doubt adds to the findings what text beside the envelope may say that they do not.
func (e envelope) doubt(beside []byte) (notes []string) {
	why := wire.Beside(beside, e.findings())
	switch {
	case why == "":
		return nil
	case e.reviewer != nil:
		e.reviewer.Findings = wire.Doubt(e.reviewer.Findings, why)
		e.reviewer.Issues = review.Count(e.reviewer.Findings)
	case e.comments != nil:
		e.comments.PendingIssues = wire.Doubt(e.comments.PendingIssues, why)
		e.comments.Issues = review.Count(e.comments.PendingIssues)
	default:
		return nil
	}
	return []string{"a person has to look: " + why}
}
