package orchestrator

import (
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// LastWord is how the run ended whose report is the newest by our account on a pull request, if that is about a head, and where the report stands; both are
// empty otherwise. An approval counts for the base commit of then alone. The account is all the proof there is: a job has no key of another job's.
func LastWord(comments []review.Comment, own review.Person, pr review.PullRequest, head string) (outcome review.Outcome, url string) {
	ours := func(c review.Comment) bool { return effects.Same(c.Author, own) }
	newest, said := newestReport(comments, ours)
	at, base, outcome := report.Concluded(allParts(newest, comments, ours))
	if head == "" || at != head || outcome.ExitStatus() == 0 && (!said.Approves || base != pr.BaseSHA) {
		return "", ""
	}
	return outcome, newest.URL
}

// allParts is the text of a report of which a comment is the first part, with the others as far as they stand among the comments that are ours.
func allParts(first review.Comment, comments []review.Comment, ours func(review.Comment) bool) string {
	m, _ := sanitize.ParseMarker(first.Body)
	if m.Parts < 2 || m.Nonce == "" {
		return first.Body
	}
	bodies := make([]string, m.Parts)
	for _, c := range comments {
		p, _ := sanitize.ParseMarker(c.Body)
		if p.Nonce == m.Nonce && p.Parts == m.Parts && p.Part > 0 && p.Part <= m.Parts && ours(c) {
			bodies[p.Part-1] = c.Body
		}
	}
	return strings.Join(bodies, "\n")
}
