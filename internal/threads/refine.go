package threads

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// descriptionLimit bounds a refined description, in characters.
const descriptionLimit = 4_000

// Refine lets an analyzer reword what the rules found and returns notes on what it was not allowed. base is what Analyze
// gave, claimed what the analyzer answered. A claim is matched by the thread or review it is about, else by id. It may
// replace title, description, suggestion and category, and raise the priority by one step up to P1: only the rules,
// which know who is speaking, give P0, and nothing said in a comment can talk a pending finding away.
func Refine(base review.CommentsResult, claimed []review.Finding) (review.CommentsResult, []string) {
	out := base
	out.PendingIssues = append([]review.Finding{}, base.PendingIssues...)
	at := map[string]int{}
	for i, f := range out.PendingIssues {
		at[f.ID] = i
		if f.Source.ReviewID != nil {
			at[*f.Source.ReviewID] = i
		}
	}
	var notes []string
	used := map[int]bool{}
	for _, c := range claimed {
		i, ok := place(at, c)
		switch {
		case !ok:
			notes = append(notes, fmt.Sprintf("pending issue %+q is about no open thread: dropped", clip(c.ID, 60)))
		case used[i]:
			notes = append(notes, fmt.Sprintf("thread %+q was answered twice: the first answer counts", clip(out.PendingIssues[i].ID, 60)))
		default:
			used[i] = true
			notes = append(notes, reword(&out.PendingIssues[i], c)...)
		}
	}
	finish(&out)
	return out, notes
}

func place(at map[string]int, c review.Finding) (int, bool) {
	if c.Source.ReviewID != nil {
		if i, ok := at[*c.Source.ReviewID]; ok {
			return i, true
		}
	}
	i, ok := at[c.ID]
	return i, ok
}

func reword(f *review.Finding, c review.Finding) (notes []string) {
	if t := clip(strings.Join(strings.Fields(c.Title), " "), titleLimit); t != "" {
		f.Title = t
	}
	if d := clip(strings.TrimSpace(c.Description), descriptionLimit); d != "" {
		f.Description = d
	}
	if s := clip(strings.TrimSpace(c.Suggestion), descriptionLimit); s != "" {
		f.Suggestion = s
	}
	if k := clip(strings.TrimSpace(c.Category), 60); k != "" {
		f.Category = k
	}
	if !c.Priority.Valid() || c.Priority == f.Priority {
		return nil
	}
	highest := max(f.Priority.Rank()-1, review.P1.Rank())
	highest = min(highest, f.Priority.Rank())
	allowed := review.Levels()[max(highest, min(c.Priority.Rank(), f.Priority.Rank()))].Priority
	if allowed != c.Priority {
		notes = append(notes, fmt.Sprintf("%s: priority %s was asked for, the rules allow %s", clip(f.ID, 60), c.Priority, allowed))
	}
	f.Priority = allowed
	return notes
}
