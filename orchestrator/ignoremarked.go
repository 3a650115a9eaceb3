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
	d.Threads = slices.DeleteFunc(slices.Clone(d.Threads), func(t review.Thread) bool { return commandsOwn(t, unedited) })
	for i := range d.Threads {
		d.Threads[i].Comments = keep(d.Threads[i].Comments, unedited)
	}
	// Any other thread of nothing but marked comments still blocks convergence while it is unresolved, so it stays.
	slices.Sort(pretenders)
	return d, slices.Compact(pretenders)
}

// commandsOwn reports whether a thread has what a command said on a line and nothing else. That counts for nothing by itself, or with the report's own findings: such a thread is no
// open conversation before somebody answers there (threats.md T843).
func commandsOwn(t review.Thread, ours func(review.Comment) bool) bool {
	if len(t.Comments) == 0 {
		return false
	}
	m, _ := sanitize.ParseMarker(t.Comments[0].Body)
	return m.Command != "" && !slices.ContainsFunc(t.Comments, func(c review.Comment) bool { return !ours(c) })
}
