package wire

import (
	"fmt"

	"github.com/prloop/prloop/review"
)

// Attribute sets who found each finding of an answer (threats.md T87): agent, whatever the answer says. Thread and comment ids
// stay when they are real; a comments analyzer's finding then carries the name of the person who wrote that comment.
func Attribute(findings []review.Finding, role review.Role, agent string, d *review.Discussion) (notes Notes) {
	known := authors(d)
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
		if role == review.RoleCommentsAnalyzer && real && author != "" {
			s.Name = author
			if s.Type != "review" {
				s.Type = "comment"
			}
			continue
		}
		s.Type, s.Name = "agent", agent
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

// Unnamed lists the findings to fix that a fixer's answer names nowhere (the invariant of spec.md A5, decision 5). Either may be nil.
func Unnamed(p *review.FixPayload, r *review.FixResult) (ids []string) {
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

// salvaged is the report of an envelope of prloop's own making.
const salvaged = "The answer was broken; these findings were valid one by one."

// KeptReviewer wraps findings salvaged from a reviewer's broken answer in an envelope that never approves.
func KeptReviewer(agent string, pr int, kept []review.Finding) *review.ReviewerResult {
	counts := review.Count(kept)
	conclusion := review.RequestChanges
	if counts.P0 > 0 {
		conclusion = review.NeedsMajorWork
	}
	return &review.ReviewerResult{Agent: agent, PRNumber: pr, Conclusion: conclusion, Issues: counts, Findings: kept, FullReport: salvaged}
}

// KeptComments does the same for a comments analyzer's. d is the discussion it was asked about, if any.
func KeptComments(agent string, pr int, d *review.Discussion, kept []review.Finding) *review.CommentsResult {
	return &review.CommentsResult{
		Agent: agent, PRNumber: pr, Issues: review.Count(kept), PendingIssues: kept, ThreadsTruncated: d != nil && d.Truncated,
		ReviewState: review.ReviewState{ChangesRequestedBy: []review.ChangesRequestedBy{}}, FullReport: salvaged,
	}
}
