package orchestrator

import (
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
)

// LastWord is how the run ended whose report is the newest by our account on a pull request, if that is about a head, and where the report stands; both are
// empty otherwise. An approval counts for the base commit of then alone. The account is all the proof there is: a job has no key of another job's.
func LastWord(comments []review.Comment, own review.Person, pr review.PullRequest, head string) (outcome review.Outcome, url string) {
	newest, said := newestReport(comments, func(c review.Comment) bool { return effects.Same(c.Author, own) })
	at, base, outcome := report.Concluded(newest.Body)
	if head == "" || at != head || outcome.ExitStatus() == 0 && (!said.Approves || base != pr.BaseSHA) {
		return "", ""
	}
	return outcome, newest.URL
}
