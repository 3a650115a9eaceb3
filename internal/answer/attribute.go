package answer

import (
	"fmt"

	"github.com/prloop/prloop/review"
)

// attribute sets who found each finding of an answer (threats.md T87): the agent, whatever the answer says. Thread and comment ids
// stay when they are real; a comments analyzer's finding then carries the name of the person who wrote that comment.
func attribute(findings []review.Finding, t review.Task) (notes []string) {
	known := authors(t.Discussion)
	unknown := 0
	for i := range findings {
		s := &findings[i].Source
		author, real := "", false
		if s.ReviewID != nil {
			if author, real = known[*s.ReviewID]; !real {
				s.ReviewID = nil
				unknown++
			}
		}
		if t.Role == review.RoleCommentsAnalyzer && real && author != "" {
			s.Name = author
			if s.Type != "review" {
				s.Type = "comment"
			}
			continue
		}
		s.Type, s.Name = "agent", t.Agent
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

// unnamed lists the findings to fix that a fixer's answer names nowhere (the invariant of spec.md A5, decision 5). Either may be nil.
func unnamed(p *review.FixPayload, r *review.FixResult) (ids []string) {
	if p == nil || r == nil {
		return nil
	}
	named := map[string]bool{}
	for _, f := range r.FixedIssues {
		named[f.FindingID] = true
	}
	for _, f := range r.RejectedIssues {
		named[f.FindingID] = true
	}
	for _, f := range p.IssuesToFix {
		if !named[f.ID] {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
