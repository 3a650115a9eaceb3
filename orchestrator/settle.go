package orchestrator

import "github.com/prloop/prloop/review"

// settleFix holds a fixer's answer against what it was asked: each id to fix stands in the result once, as fixed or
// rejected, those without a word as not fixed (design 3.5).
func settleFix(payload review.FixPayload, r *review.FixResult) (review.FixResult, []string) {
	out := review.FixResult{PRNumber: payload.PRNumber, FixedIssues: []review.FixedIssue{}, RejectedIssues: []review.RejectedIssue{}, Commits: []review.FixCommit{}}
	said := map[string]bool{}
	if r != nil {
		out.Agent, out.Commits, out.Summary.Deferred = r.Agent, r.Commits, r.Summary.Deferred
		for _, f := range r.FixedIssues {
			if !said[f.FindingID] {
				said[f.FindingID] = true
				out.FixedIssues = append(out.FixedIssues, f)
			}
		}
		for _, f := range r.RejectedIssues {
			if !said[f.FindingID] {
				said[f.FindingID] = true
				out.RejectedIssues = append(out.RejectedIssues, f)
			}
		}
	}
	for _, f := range payload.IssuesToFix {
		if !said[f.ID] {
			out.RejectedIssues = append(out.RejectedIssues, review.RejectedIssue{FindingID: f.ID, Reason: "not fixed: the fixer did not say what became of it"})
		}
	}
	out.Summary.Fixed, out.Summary.Rejected = len(out.FixedIssues), len(out.RejectedIssues)
	return out, nil
}
