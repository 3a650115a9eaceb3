package threads

import (
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// render writes the Markdown summary of a result. Names and titles in it are untrusted text.
func render(r review.CommentsResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d review threads: %d resolved, %d unresolved.", r.Stats.Total, r.Stats.Resolved, r.Stats.Unresolved)
	if r.ThreadsTruncated {
		b.WriteString(" The discussion is longer than what was read.")
	}
	b.WriteString("\n")
	if r.ReviewState.HasChangesRequested {
		b.WriteString("\nChanges are requested by:\n\n")
		for _, p := range r.ReviewState.ChangesRequestedBy {
			fmt.Fprintf(&b, "- %s (%s)\n", p.Login, strings.ToLower(p.Association))
		}
	}
	if len(r.PendingIssues) > 0 {
		b.WriteString("\nPending:\n\n")
		for _, f := range r.PendingIssues {
			where := ""
			if f.File != "" {
				where = " in " + f.File
				if f.Line != nil {
					where += fmt.Sprintf(":%d", *f.Line)
				}
			}
			fmt.Fprintf(&b, "- %s%s: %s\n", f.Priority, where, f.Title)
		}
	}
	return b.String()
}
