package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// withoutMarked drops every comment that carries the marker outside a quote or code: the analyzer ignores all of them
// (spec.md A7), unless somebody else has edited it into what a person said. Authors of those that are not authentic are named, because a pasted marker hides what a person
// said (decision 2).
func withoutMarked(d review.Discussion, authentic func(review.Comment) bool) (review.Discussion, []string) {
	var pretenders []string
	unedited := func(c review.Comment) bool { return c.EditedAt.IsZero() && authentic(c) } // as opener
	keep := func(comments []review.Comment, authentic func(review.Comment) bool) []review.Comment {
		return slices.DeleteFunc(slices.Clone(comments), func(c review.Comment) bool {
			ours := authentic(c)
			if !sanitize.HasMarker(c.Body) || !ours && c.EditedBy != "" {
				return false
			}
			if !ours {
				pretenders = append(pretenders, c.Author.Login)
			}
			return true
		})
	}
	d.Comments = keep(d.Comments, authentic)
	d.Threads = slices.Clone(d.Threads)
	for i := range d.Threads {
		d.Threads[i].Comments = keep(d.Threads[i].Comments, unedited)
	}
	// A thread of nothing but marked comments is prloop's own; an unresolved one still blocks convergence, so it stays.
	slices.Sort(pretenders)
	return d, slices.Compact(pretenders)
}
