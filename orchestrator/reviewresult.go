package orchestrator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
)

// reviewResult puts what a round came to in the words of spec.md R1.
func (d verdict) reviewResult(result review.RunResult) *review.ReviewResult {
	r := review.ReviewResult{
		ReviewID: result.Receipt.ReviewID, Status: review.StatusOK, Warnings: append([]string{}, result.Receipt.Warnings...),
		Issues: []review.Issue{}, Summary: result.Reason, FilesReviewed: append([]string{}, d.read.Reviewed...),
	}
	switch {
	case result.Outcome == review.Failed, result.Outcome == review.NotReviewed:
		r.Status = review.StatusError
	case len(d.read.Unread()) > 0, d.in.Snapshot.Brief.Status != "ok":
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

// Stages are the findings of a round at each stage of its judgement.
func Stages(in Inputs) review.Stages {
	in.Reports = ordered(in.Reports)
	d := decide(match(gather(in).assess()))
	var answered, aside, counted, prominent []review.Finding
	for _, h := range in.Reports {
		if h.Answer.Reviewer != nil {
			answered = append(answered, h.Answer.Reviewer.Findings...)
		}
	}
	for _, u := range d.unverified {
		aside = append(aside, u.Finding)
	}
	open := d.open()
	for g, group := range d.groups {
		if d.counts[group[0]] {
			counted = append(counted, d.findings[group[0]])
		}
		if open[g] {
			prominent = append(prominent, d.findings[group[0]])
		}
	}
	return review.Stages{Answered: issues(answered), SetAside: issues(aside), Counted: issues(counted), Prominent: issues(prominent)}
}

// issues puts findings under the names of spec.md R1, each with a key of its own.
func issues(findings []review.Finding) []review.Issue {
	out, seen := []review.Issue{}, map[string]bool{}
	for _, f := range findings {
		i := issue(f)
		key := cmp.Or(i.Key, "finding")
		i.Key = key
		for n := 2; seen[i.Key]; n++ {
			i.Key = fmt.Sprintf("%s#%d", key, n)
		}
		seen[i.Key] = true
		out = append(out, i)
	}
	return out
}
