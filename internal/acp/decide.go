package acp

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
)

// envelope is a decoded answer; the field of the role is set.
type envelope struct {
	reviewer *review.ReviewerResult
	comments *review.CommentsResult
	fix      *review.FixResult
}

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
		return envelope{}, n, err
	}
	return e, n, nil
}

// keyOf is the field that only the answer of a role has.
func keyOf(role review.Role) string {
	switch role {
	case review.RoleCommentsAnalyzer:
		return "pendingIssues"
	case review.RoleFixer:
		return "fixedIssues"
	}
	return "findings"
}

// accept reports why a document is no answer to a task, in words for the model.
func accept(role review.Role, task review.Task, doc []byte) error {
	e, _, err := decode(role, doc)
	if err != nil {
		return err
	}
	if missing := wire.Unnamed(task.Fix, e.fix); len(missing) > 0 {
		return fmt.Errorf("decode fix-result: neither fixed nor rejected: %s", visible(strings.Join(missing, ", "), 400))
	}
	return nil
}

// settle holds an answer against what prloop knows (threats.md T87): an agent may say who it is and what it was asked, but
// that is not up to it.
func (e envelope) settle(spec Spec, task review.Task) (notes []string) {
	set := func(agent *string, pr *int) {
		if *agent != spec.Name {
			*agent = spec.Name // a model does not know what it is called: not worth a note
		}
		if *pr != task.PRNumber {
			notes = append(notes, fmt.Sprintf("prNumber: claimed %d, is %d", *pr, task.PRNumber))
			*pr = task.PRNumber
		}
	}
	if r := e.reviewer; r != nil {
		set(&r.Agent, &r.PRNumber)
		if limit := task.Limits.Findings; limit > 0 && len(r.Findings) > limit {
			notes = append(notes, fmt.Sprintf("%d findings, asked were at most %d", len(r.Findings), limit))
		}
	}
	if r := e.comments; r != nil {
		set(&r.Agent, &r.PRNumber)
		if d := task.Discussion; d != nil && r.ThreadsTruncated != d.Truncated {
			notes = append(notes, fmt.Sprintf("threadsTruncated: claimed %v, is %v", r.ThreadsTruncated, d.Truncated))
			r.ThreadsTruncated = d.Truncated
		}
	}
	if r := e.fix; r != nil {
		set(&r.Agent, &r.PRNumber)
		if task.Fix != nil {
			settled, more := wire.SettleFix(*task.Fix, r)
			*r = settled
			notes = append(notes, more...)
		}
	}
	return append(notes, wire.Attribute(e.findings(), spec.Role, spec.Name, task.Discussion)...)
}

func (e envelope) findings() []review.Finding {
	switch {
	case e.reviewer != nil:
		return e.reviewer.Findings
	case e.comments != nil:
		return e.comments.PendingIssues
	}
	return nil
}

// blocks reports whether an answer of an agent that did not end well says something that may only block. What a fixer says
// it did is held against the tree, so it is kept too.
func (e envelope) blocks() bool {
	return len(e.findings()) > 0 || e.fix != nil || e.comments != nil && e.comments.ReviewState.HasChangesRequested
}

// salvage keeps findings that are valid one by one.
func salvage(role review.Role, docs ...[]byte) (kept []review.Finding, notes []string) {
	keep := wire.SalvageReviewer
	if role == review.RoleCommentsAnalyzer {
		keep = wire.SalvageComments
	}
	var all [][]review.Finding
	for _, doc := range docs {
		found, n := keep(doc)
		all, notes = append(all, found), append(notes, n...)
	}
	return wire.Salvaged(all...), notes
}

// salvageFix keeps a fixer's answer whose only fault is that ids are missing or stand in it twice (decision 5): settled, it
// says of those that they are not fixed. The first document that is one counts.
func salvageFix(task review.Task, docs ...[]byte) (*review.FixResult, []string) {
	for _, doc := range docs {
		if r, notes := wire.SalvageFix(doc); r != nil && task.Fix != nil {
			return r, notes
		}
	}
	return nil, nil
}

// wrap puts salvaged findings into an envelope of prloop's own making, which never approves.
func wrap(spec Spec, task review.Task, kept []review.Finding) envelope {
	if spec.Role == review.RoleCommentsAnalyzer {
		return envelope{comments: wire.KeptComments(spec.Name, task.PRNumber, task.Discussion, kept)}
	}
	return envelope{reviewer: wire.KeptReviewer(spec.Name, task.PRNumber, kept)}
}
