package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// headWait is how long GitHub may take to show a pushed commit as the pull request's head.
const headWait = time.Minute

// deliver pushes good work and verifies the pushed head, or hands it over as a patch.
func (j *fixing) deliver(ctx context.Context, fix review.FixOutcome) (review.FixOutcome, error) {
	if why := j.req.Fix.PatchOnly; why != "" {
		fix.State, fix.Reason = review.FixPatch, why
		return fix, nil
	}
	if j.left() <= 0 || j.spare() < 0 {
		j.late = true
		fix.State, fix.Reason = review.FixPatch, "not enough wall time is left to review a push"
		return fix, nil
	}
	pr := j.judged.Inputs.Snapshot.PR
	pushed, err := doJSON(ctx, j.steps, fmt.Sprintf("round %d: push", j.round), func(ctx context.Context) (Pushed, error) {
		if why, err := j.checkBeforePush(ctx); err != nil || why != "" {
			return Pushed{Shut: why}, err
		}
		if ok, err := j.loop.History.Have(ctx, j.tip); err != nil || !ok {
			return Pushed{Lost: err == nil}, err
		}
		j.loop.say("pushing " + short(j.tip) + " to " + pr.HeadRef)
		to, err := j.loop.branch(ctx, pr)
		if err != nil {
			return Pushed{}, err
		}
		if err := beforePush.Hit(); err != nil {
			return Pushed{}, err
		}
		writing, done := effects.Finishing(ctx)
		got, err := j.loop.Executor.Push(writing, to, fix.Base, j.tip)
		done()
		if err != nil || !got.Done {
			return got, err
		}
		j.loop.emit(review.Event{Kind: review.EventPushed, Head: j.tip})
		killed, seen := afterPush.Hit(), j.seen(ctx, pr, fix.Base)
		if j.loop.permanent(seen) && ctx.Err() == nil {
			seen = nil // the push is done; the next call finds the same
		}
		return got, errors.Join(killed, seen)
	})
	if err == nil {
		err = pushRecord.Hit()
	}
	switch {
	case err != nil:
		return fix, fmt.Errorf("push the fix of round %d: %w", j.round, err)
	case pushed.Lost:
		return j.gone(fix), nil
	case pushed.Head != "":
		fix.State, fix.NewerHead = review.FixSuperseded, pushed.Head
		fix.Reason = fmt.Sprintf("the branch moved from %s to %s while the fix was made", short(fix.Base), short(pushed.Head))
		return fix, nil
	case pushed.Shut != "":
		fix.State, fix.Reason = review.FixPatch, pushed.Shut
		return fix, nil
	case !pushed.Done:
		fix.State, fix.Reason = review.FixPatch, j.loop.Learned.Redact(pushed.Refused)
		return fix, nil
	}
	fix.State, fix.Head = review.FixPushed, j.tip
	return j.verifyPushed(ctx, fix)
}

// verifyPushed runs the commands once more, on the pushed head (decision 6), if that leaves the time to review it. It is the
// commit that passed before the push.
func (j *fixing) verifyPushed(ctx context.Context, fix review.FixOutcome) (review.FixOutcome, error) {
	var took float64
	for _, c := range fix.Checks {
		took += c.Seconds
	}
	if spare := j.spare(); spare > 0 && spare >= seconds(took) {
		seen, err := j.verify(ctx, fmt.Sprintf("round %d: verify the pushed head", j.round), "the pushed head", j.tip, true, fix.Base, spare)
		if err != nil {
			return fix, err
		}
		if !seen.Cut && !seen.Lost {
			fix.PushedChecks = seen.Checks
			return fix, nil
		}
	}
	if len(j.req.Fix.Verify) > 0 {
		fix.Notes = append(fix.Notes, "The pushed head was not verified again: the rest of the run's wall time is reserved for its review. It is the commit that passed before the push.")
	}
	return fix, nil
}

// seen waits until GitHub shows another head than the reviewed one: it updates pull requests a moment after the push.
func (j *fixing) seen(ctx context.Context, pr review.PullRequest, reviewed string) error {
	until := j.loop.Now().Add(headWait)
	for {
		now, err := j.loop.Forge.PullRequest(ctx, pr.Repo, pr.Number)
		if err != nil {
			return err
		}
		if now.HeadSHA != reviewed {
			return nil
		}
		if j.loop.Now().After(until) {
			return fmt.Errorf("pull request %d still shows %s as its head, %s after the push", pr.Number, short(reviewed), headWait)
		}
		if err := j.loop.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// ends names how the run ends with this fix; empty when it goes on.
func (j *fixing) ends(fix review.FixOutcome) (review.Outcome, string) {
	switch fix.State {
	case review.FixPushed: // the next round reviews it, whatever its second verification said (decision 24)
		return "", ""
	case review.FixSuperseded:
		return review.Superseded, fix.Reason + ": start a new run"
	case review.FixFailed:
		if of := fix.Agent.OutOf; strings.HasSuffix(of, " of the run") {
			return review.Budget, fmt.Sprintf("the budget for %s ran out while the fixer was at work", of)
		} else if of != "" {
			return review.Budget, fmt.Sprintf("the fixer's budget for %s ran out", of)
		}
		return review.ChangesRequested, "nothing was fixed: " + fix.Reason
	case review.FixRefused:
		if i := slices.IndexFunc(fix.Refusals, func(r review.Refusal) bool { return r.Rule == ruleBrake }); i >= 0 {
			return review.Diverging, fmt.Sprintf("nothing was pushed: the fixes grow beyond the pull request: %s (%s)", fix.Refusals[i].Detail, rules(fix.Refusals))
		}
		return review.ChangesRequested, "nothing was pushed: " + fix.Reason
	case review.FixUnchanged:
		if n := len(fix.Result.FixedIssues); n > 0 {
			return review.Stuck, fmt.Sprintf("manual intervention required: the fixer reports %s fixed and changed nothing", plural(n, "finding", "findings"))
		}
		did := "changed"
		if fix.Files > 0 {
			did = "fixed"
		}
		for _, r := range fix.Result.RejectedIssues {
			if strings.HasPrefix(r.Reason, answer.NotFixedPrefix) {
				return review.ChangesRequested, "the fixer " + did + " nothing, and did not say why of every finding"
			}
		}
		return review.ChangesRequested, "the fixer " + did + " nothing: every finding was rejected"
	case review.FixVerifyFailed:
		if j.late {
			return review.Budget, "the run's wall time ran out, and the fix does not pass " + fix.Reason
		}
		return review.ChangesRequested, "nothing was pushed: the fix does not pass " + fix.Reason
	}
	if j.late {
		return review.Budget, "the fix is handed over as a patch: " + fix.Reason
	}
	return review.ChangesRequested, "the fix is handed over as a patch: " + fix.Reason
}

// ruleBrake is the push policy's name for a fix that is larger than the pull request warrants.
const ruleBrake = "scope-brake"
