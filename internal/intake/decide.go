package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Rules are the operator's on which pull requests are reviewed without anybody asking.
type Rules struct {
	// Drafts and Forks let those be reviewed, NoBots leaves out the pull requests of bots.
	Drafts, Forks, NoBots bool
	// Labels are the labels one of which a pull request must have; none for all.
	Labels []string
}

// Known is what earlier runs leave of a pull request.
type Known struct {
	// Head is the commit that was reviewed last, Run the run that did.
	Head, Run string
	// Anew is true when that does not count: what a verdict rests on may have changed since.
	Anew bool
}

// State tells how a pull request is from how it was: what Decide looks at, in one word.
func State(pr review.PullRequest) string {
	labels := slices.Sorted(slices.Values(pr.Labels))
	return fmt.Sprintf("%s %s %v %q %s", pr.State, pr.HeadSHA, pr.Draft, labels, pr.BaseRef)
}

// Decide says why a pull request, as it is now, is not reviewed; empty when it is.
func Decide(pr review.PullRequest, r Rules, k Known) (why string) {
	labelled := func(l string) bool { return slices.Contains(pr.Labels, l) }
	switch {
	case pr.State != "OPEN":
		return "the pull request is " + strings.ToLower(pr.State)
	case pr.Draft && !r.Drafts:
		return "the pull request is a draft: it is reviewed when it is ready, or when somebody asks for it by comment"
	case pr.CrossRepository && !r.Forks:
		return "the pull request is a fork's: it is reviewed when somebody who may write asks for it by comment"
	case pr.Author.Bot && r.NoBots:
		return "the pull request is a bot's"
	case len(r.Labels) > 0 && !slices.ContainsFunc(r.Labels, labelled):
		return fmt.Sprintf("the pull request has none of the labels %s", strings.Join(r.Labels, ", "))
	case k.Head == pr.HeadSHA && !k.Anew:
		return fmt.Sprintf("the commit %.7s was reviewed: run %s", pr.HeadSHA, k.Run)
	}
	return ""
}
