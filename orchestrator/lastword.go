package orchestrator

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// LastWord is how the run ended whose report is the newest about a head by our account on a pull request, and where the report stands; both are empty where
// there is none. An approval counts for the base branch and the base commit of then alone, and as long as no other report is newer. The account is all the proof there is: a job has no key of another job's.
func LastWord(comments []review.Comment, own review.Person, pr review.PullRequest, head string) (outcome review.Outcome, url string) {
	ours := func(c review.Comment) bool { return effects.Same(c.Author, own) }
	last, _ := newestReport(comments, ours)
	here := Request{}.base(pr)
	for _, r := range reportsAbout(comments, aboutHead(comments, ours, head), here) {
		_, base, outcome := report.Concluded(allParts(r.comment, comments, ours))
		switch {
		case outcome.ExitStatus() != 0:
			return outcome, r.comment.URL
		case r.says.Approves && r.says.Base == sanitize.BaseNamed(here) && base == pr.BaseSHA && last.URL == r.comment.URL:
			return outcome, r.comment.URL
		}
	}
	return "", ""
}

// LastReport reports whether the comment at an address is of the run whose report is the newest that may be about a pull request as it is to be merged now, and that report is proven
// ours and about this head and base branch. Any report by our account can be the newest, whichever key signed it.
func LastReport(comments []review.Comment, own review.Person, key []byte, pr review.PullRequest, url string) bool {
	kind, here := effects.Comment{Key: key}, sanitize.BaseNamed(Request{}.base(pr))
	ours := func(c review.Comment) bool { return kind.Authentic(c, pr, own) }
	for _, r := range reportsAbout(comments, func(c review.Comment) bool { return effects.Same(c.Author, own) }, Request{}.base(pr)) {
		if r.says.Base != "" && r.says.Base != here {
			continue
		}
		m, _ := sanitize.ParseMarker(r.comment.Body)
		return r.says.Base == here && ours(r.comment) && report.About(allParts(r.comment, comments, ours)) == pr.HeadSHA && slices.ContainsFunc(comments, func(c review.Comment) bool {
			said, _ := sanitize.ParseMarker(c.Body)
			return c.URL == url && said.Run == m.Run && ours(c)
		})
	}
	return false
}

// aboutHead narrows comments from somebody to beginnings of reports about a head.
func aboutHead(comments []review.Comment, from func(review.Comment) bool, head string) func(review.Comment) bool {
	return func(c review.Comment) bool {
		if head == "" || !from(c) {
			return false
		}
		at, _, _ := report.Concluded(allParts(c, comments, from))
		return at == head
	}
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
