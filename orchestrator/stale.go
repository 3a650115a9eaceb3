package orchestrator

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// open is the state of a pull request in which it is worth anybody's work.
const open = "OPEN"

// staleReason says why what is known of a pull request as it was is of no use for it as it is now; empty when it is. A review is
// about a head, about what merging it would change, and for people who have yet to decide (threats.md T90 to T92). A base
// branch that only advances leaves it as it is (decision 26).
func staleReason(was, now review.PullRequest) string {
	switch why := closedReason(was, now); {
	case why != "":
		return why
	case now.HeadSHA != was.HeadSHA:
		return fmt.Sprintf("the head is now %s, not %s: start a new run", short(now.HeadSHA), short(was.HeadSHA))
	}
	return ""
}

// closedReason is overtaken for what a push does not see by itself, which is everything but the head.
func closedReason(was, now review.PullRequest) string {
	switch {
	case now.State == "MERGED":
		return "the pull request has been merged"
	case now.State != open:
		return "the pull request is closed by now"
	case now.Stopped != "":
		return now.Stopped
	}
	// What is stored of a name is masked.
	if is, should := sanitize.Mask(now.BaseRef), sanitize.Mask(was.BaseRef); is != should {
		return fmt.Sprintf("the pull request is now to be merged into %q, not %q: start a new run", is, should)
	}
	return ""
}

// checkBeforeFix asks before the fixer is: a fix of what nobody merges any more, or of an old head, is not worth its price (see
// threats.md T91). It gives the reason why not. It is to be asked within the step that asks the fixer, so that it is asked again when
// the run is resumed there.
func (j *fixing) checkBeforeFix(ctx context.Context) (string, error) {
	pr := j.judged.Inputs.Snapshot.PR
	now, err := j.loop.Forge.PullRequest(ctx, pr.Repo, pr.Number)
	if err != nil {
		return "", err
	}
	return staleReason(pr, now), nil
}

// unasked is the work of a fixer who was not asked.
func unasked(plan AgentPlan, why string) review.FixWork {
	return review.FixWork{Answer: review.Answer{Receipt: review.AgentReceipt{
		Name: plan.Name, Role: plan.Role, Kind: plan.Kind, State: review.AgentFailed, Reason: why,
	}}}
}

// checkBeforePush asks before the push whether the pull request still takes it, and gives the reason why not (threats.md T91). Where our
// commit stands already, by a process that was killed behind its push, there is nothing to be asked.
func (j *fixing) checkBeforePush(ctx context.Context) (string, error) {
	pr := j.judged.Inputs.Snapshot.PR
	now, err := j.loop.Forge.PullRequest(ctx, pr.Repo, pr.Number)
	if err != nil || now.HeadSHA == j.tip {
		return "", err
	}
	return closedReason(pr, now), nil
}
