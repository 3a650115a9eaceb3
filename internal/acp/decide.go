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
	if err != nil || e.fix == nil || task.Fix == nil {
		return err
	}
	named := map[string]bool{}
	for _, f := range e.fix.FixedIssues {
		named[f.FindingID] = true
	}
	for _, f := range e.fix.RejectedIssues {
		named[f.FindingID] = true
	}
	var missing []string
	for _, f := range task.Fix.IssuesToFix {
		if !named[f.ID] {
			missing = append(missing, f.ID)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("decode fix-result: neither fixed nor rejected: %s", visible(strings.Join(missing, ", "), 400))
	}
	return nil
}

// settle holds an answer against what prloop knows (threat T87): an agent may say who it is and what it was asked, but
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
	return append(notes, sources(e.findings(), spec, task)...)
}

// sources sets who found each finding. An analyzer's finding about a real comment carries the name of its author.
func sources(findings []review.Finding, spec Spec, task review.Task) (notes []string) {
	known := authors(task.Discussion)
	unknown := 0
	for i := range findings {
		s := &findings[i].Source
		if s.ReviewID != nil {
			author, real := known[*s.ReviewID]
			if real && author != "" && spec.Role == review.RoleCommentsAnalyzer {
				s.Name = author
				if s.Type != "review" {
					s.Type = "comment"
				}
				continue
			}
			if !real {
				s.ReviewID = nil
				unknown++
			}
		}
		s.Type, s.Name = "agent", spec.Name
	}
	if unknown > 0 {
		notes = append(notes, fmt.Sprintf("%d findings named a thread or comment that does not exist", unknown))
	}
	return notes
}

// authors maps the ids of a discussion to logins.
func authors(d *review.Discussion) map[string]string {
	known := map[string]string{}
	if d == nil {
		return known
	}
	for _, t := range d.Threads {
		known[t.ID] = ""
		for i, c := range t.Comments {
			known[c.ID] = c.Author.Login
			if i == 0 {
				known[t.ID] = c.Author.Login
			}
		}
	}
	for _, r := range d.Reviews {
		known[r.ID] = r.Author.Login
	}
	for _, c := range d.Comments {
		known[c.ID] = c.Author.Login
	}
	return known
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

// salvage keeps findings that are valid one by one; the first document that holds some counts.
func salvage(role review.Role, docs ...[]byte) (kept []review.Finding, notes []string) {
	keep := wire.SalvageReviewer
	if role == review.RoleCommentsAnalyzer {
		keep = wire.SalvageComments
	}
	for _, doc := range docs {
		if kept, n := keep(doc); len(kept) > 0 {
			return kept, n
		}
	}
	return nil, nil
}

// salvageFix keeps a fixer's answer whose only fault is that ids are missing or stand in it twice (design 3.5): settled, it
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
	counts := review.Count(kept)
	const report = "The answer was broken; these findings were valid one by one."
	if spec.Role == review.RoleCommentsAnalyzer {
		return envelope{comments: &review.CommentsResult{Agent: spec.Name, PRNumber: task.PRNumber, Issues: counts,
			ReviewState:   review.ReviewState{ChangesRequestedBy: []review.ChangesRequestedBy{}},
			PendingIssues: kept, ThreadsTruncated: task.Discussion != nil && task.Discussion.Truncated, FullReport: report}}
	}
	conclusion := review.RequestChanges
	if counts.P0 > 0 {
		conclusion = review.NeedsMajorWork
	}
	return envelope{reviewer: &review.ReviewerResult{Agent: spec.Name, PRNumber: task.PRNumber, Conclusion: conclusion,
		Issues: counts, Findings: kept, FullReport: report}}
}
