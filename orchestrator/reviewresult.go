package orchestrator

import (
	"cmp"
	"slices"

	"github.com/prloop/prloop/review"
)

// reviewResult puts what a round came to in the words of spec.md R1.
func (d verdict) reviewResult(result review.RunResult) *review.ReviewResult {
	r := review.ReviewResult{
		ReviewID: result.Receipt.ReviewID, Status: review.StatusOK, Warnings: append([]string{}, result.Receipt.Warnings...),
		Issues: []review.Issue{}, Summary: result.Reason, FilesReviewed: append([]string{}, d.read.reviewed...),
	}
	switch {
	case result.Outcome == review.Failed, result.Outcome == review.NotReviewed:
		r.Status = review.StatusError
	case len(d.read.unread()) > 0, d.in.Snapshot.Brief.Status != "ok":
		r.Status = review.StatusTruncated
	}
	for _, group := range d.groups {
		if d.left[group[0]] {
			continue
		}
		r.Issues = append(r.Issues, issue(d.findings[group[0]]))
	}
	var models []string
	for _, a := range result.Receipt.Agents {
		models = append(models, a.Usage.Models...)
		if a.Model != "" {
			models = append(models, a.Model)
		}
		r.Stats.LLMCalls += a.Usage.LLMCalls
		r.Stats.LLMSeconds += a.Usage.LLMSeconds
		r.Stats.Seconds = max(r.Stats.Seconds, a.Seconds)
		for _, n := range []*int{a.Usage.InputTokens, a.Usage.OutputTokens} {
			if n != nil {
				r.Stats.Tokens += *n
			}
		}
		if a.Usage.CostUSD != nil {
			r.Stats.CostUSD += *a.Usage.CostUSD
		}
	}
	slices.Sort(models)
	r.ModelsUsed = append([]string{}, slices.Compact(models)...)
	return &r
}

func issue(f review.Finding) review.Issue {
	i := review.Issue{
		File: f.File, Severity: f.Priority.Level().Severity, Category: f.Category, Title: f.Title,
		Description: f.Description, Suggestion: f.Suggestion, Evidence: f.Evidence, Key: cmp.Or(f.Fingerprint, f.ID),
		Confidence: f.Confidence, Language: f.Language, LineEnd: f.LineEnd,
	}
	if f.Line != nil {
		i.LineStart = *f.Line
	}
	return i
}
