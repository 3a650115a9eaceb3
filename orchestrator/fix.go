package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// FixTries is how often the fixer is asked in a round: once, and twice more with what was wrong (decision 6).
const FixTries = 3

// fixRound is the second half of a round: the fixer works, its work is checked, verified, pushed and reported. goesOn is true
// when there is a new head to review.
func (l *Loop) fixRound(ctx context.Context, steps Steps, req Request, judged Judgement, p *progress) (review.RunResult, bool, error) {
	none := review.RunResult{}
	result := judged.Result
	if err := l.fixes(ctx, steps, req, p, judged.Payload); err != nil {
		return none, false, err
	}
	job := &fixing{loop: l, steps: steps, req: req, judged: judged, progress: p}
	fix, err := job.fix(ctx)
	if err != nil {
		return none, false, err
	}
	outcome, reason := job.ends(fix)
	p.past = slices.Clone(p.past)
	p.past[len(p.past)-1].Fix = &fix
	result.Rounds = p.past
	urls, why, err := job.report(ctx, fix, outcome, reason)
	fix.URLs = urls
	p.urls = append(p.urls, urls...)
	if err != nil {
		return none, false, err
	}
	if err := job.keep(ctx, fix); err != nil {
		return none, false, err
	}
	l.over(*p)
	switch {
	case why != "":
		p.head = cmp.Or(fix.Head, p.head)
		return superseded(req, *p, result.URL, why), false, nil
	case outcome == review.Superseded:
		return superseded(req, *p, result.URL, reason), false, nil
	case outcome != "":
		result.Outcome, result.Reason = outcome, reason
		return result, false, nil
	}
	if err := l.reviewed(ctx, steps, req, p, result.Gate); err != nil {
		return none, false, err
	}
	p.tracked = claimed(p.tracked, fix, p.round)
	p.head = fix.Head
	return none, true, nil
}

// fixing is one round's fix at work.
type fixing struct {
	loop   *Loop
	steps  Steps
	req    Request
	judged Judgement
	*progress
	// tries is how often the fixer was asked.
	tries int
	// tip is the commit to be pushed.
	tip string
	// setup is what the setup commands came to.
	setup []review.Check
	// unset is the setup command that failed; nil when none did.
	unset *review.Check
	// late is true when the run's wall time is why good work is not pushed, or bad work not fixed.
	late bool
}

// left is what the run still has of its wall time.
func (j *fixing) left() time.Duration { return j.req.wallTime() - j.spent }

// spare is what may be used of that: a push is followed by a review, for which as much is kept back as this round's took.
func (j *fixing) spare() time.Duration {
	return j.left() - j.read - slowest(complete(j.judged.Inputs.Reports))
}

// complete are the agents that came to their end: those that were cut say nothing about how long the next one takes.
func complete(reports []AgentReport) []AgentReport {
	return slices.DeleteFunc(slices.Clone(reports), func(h AgentReport) bool { return h.Answer.Receipt.State != review.AgentComplete })
}

// fix is the round's fix, made and delivered. One whose commits only a machine had that is gone is made again, while there are tries.
func (j *fixing) fix(ctx context.Context) (fix review.FixOutcome, err error) {
	if j.setup, err = j.setUp(ctx); err != nil {
		return fix, err
	}
	if bad := failing(j.setup); len(bad) > 0 {
		j.unset = &bad[0]
	}
	fix = review.FixOutcome{Base: j.judged.Inputs.Snapshot.Range.Head, Commits: []review.FixCommit{}, Setup: j.setup}
	for err == nil && fix.State == "" {
		if fix, err = j.make(ctx, fix); err == nil && fix.State == "" { // the work is good
			fix, err = j.deliver(ctx, fix)
		}
	}
	return fix, err
}

// gone takes back what a fix came to whose commits are nowhere. State stays empty while it can be made again.
func (j *fixing) gone(fix review.FixOutcome) review.FixOutcome {
	j.tip = ""
	fix.Commits, fix.Tests, fix.Files, fix.Lines, fix.Checks = []review.FixCommit{}, nil, 0, 0, nil
	if j.tries >= FixTries {
		fix.State, fix.Reason = review.FixFailed, "the machine that had its commits is gone"
	}
	return fix
}

// make has the fixer work until its result passes policy and verification, or the tries are used up. State stays empty
// when the work is good.
func (j *fixing) make(ctx context.Context, fix review.FixOutcome) (review.FixOutcome, error) {
	reviewed := fix.Base
	from := reviewed
	var setback *review.Feedback
	for {
		j.tries++
		try := j.tries
		fix.Tries = try
		work, err := j.try(ctx, try, from, setback)
		if err != nil {
			return fix, err
		}
		j.spent += seconds(work.Answer.Receipt.Seconds)
		before := fix
		mergeAttempt(&fix, work, j.judged.Payload)
		switch {
		case work.Answer.Fix == nil:
			fix.State, fix.Reason = review.FixFailed, cmp.Or(work.Answer.Receipt.Reason, "the fixer gave no answer")
			return fix, nil
		case len(work.Refusals) > 0:
			if try < FixTries {
				from, setback = reviewed, &review.Feedback{Try: try, Refusals: work.Refusals}
				continue
			}
			fix.State, fix.Reason = review.FixRefused, "the push policy refuses it: "+rules(work.Refusals)
			return fix, nil
		case work.Tip == "" && from != reviewed:
			// It leaves the work before as it is, which does not pass.
			fix.Commits, fix.Tests = before.Commits, before.Tests
			fix.Files, fix.Lines, fix.Checks = before.Files, before.Lines, before.Checks
			fix.State, fix.Reason = review.FixVerifyFailed, commandsOf(failing(before.Checks))
			return fix, nil
		case work.Tip == "":
			fix.State, fix.Reason = review.FixUnchanged, "the fixer changed nothing"
			return fix, nil
		case len(fix.Result.FixedIssues) == 0: // nobody asked for what it changed
			fix.Commits, fix.Tests = []review.FixCommit{}, nil
			fix.State, fix.Reason = review.FixUnchanged, "the fixer fixed nothing that it was asked to fix"
			return fix, nil
		}
		seen, err := j.verify(ctx, fmt.Sprintf("round %d: verify, try %d", j.round, try), "the fix", work.Tip, false, reviewed, j.left())
		if err != nil {
			return fix, err
		}
		fix.Checks = seen.Checks
		bad := failing(seen.Checks)
		switch {
		case seen.Lost:
			if fix = j.gone(fix); fix.State != "" {
				return fix, nil
			}
			from, setback = reviewed, nil
			continue
		case seen.Cut: // nothing is known against it
			j.tip, j.late = work.Tip, true
			fix.State, fix.Reason = review.FixPatch, "its checks had not ended when the run's wall time was used up"
			return fix, nil
		case len(bad) == 0:
			j.tip = work.Tip
			return fix, nil
		case try == FixTries, unmendable(bad), len(failing(fix.Setup)) > 0, j.left() <= 0:
			j.late = j.left() <= 0
			fix.State, fix.Reason = review.FixVerifyFailed, commandsOf(bad)
			return fix, nil
		}
		from, setback = work.Tip, &review.Feedback{Try: try, Checks: bad}
	}
}

// taskSummary is what a fixer is given: findings, and after a try that came to nothing why.
func taskSummary(p review.FixPayload, setback *review.Feedback) string {
	text := plural(len(p.IssuesToFix), "finding", "findings")
	switch {
	case setback == nil:
		return text
	case len(setback.Refusals) > 0:
		return text + " and what the push policy refuses"
	}
	return text + " and the log of what failed"
}

// fixing is what a fixer's answer came to, in a few words: nothing of it is checked yet.
func mending(a review.Answer) string {
	if a.Receipt.Reason != "" || a.Fix == nil {
		return a.Receipt.Whole()
	}
	return fmt.Sprintf("says %d fixed", len(a.Fix.FixedIssues))
}

// try is one question to the fixer.
func (j *fixing) try(ctx context.Context, try int, from string, setback *review.Feedback) (review.FixWork, error) {
	l, in, plan := j.loop, j.judged.Inputs, j.req.Fix.Agent
	return doJSON(ctx, j.steps, fmt.Sprintf("round %d: fix, try %d", j.round, try), func(ctx context.Context) (review.FixWork, error) {
		if why, err := j.checkBeforeFix(ctx); err != nil || why != "" {
			return unasked(plan, why), err
		}
		if ok, err := l.History.Have(ctx, from); err != nil {
			return review.FixWork{}, err
		} else if !ok {
			from, setback = in.Snapshot.Range.Head, nil // it begins anew
		}
		l.say("waiting for the fixer, which has " + taskSummary(j.judged.Payload, setback))
		l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: review.AgentRunning})
		task := l.task(j.req, j.round, plan, in.Snapshot)
		task.HeadSHA, task.Limits, task.Discussion = from, j.req.Fix.Limits, nil // what counts of it are findings
		task.Fix, task.Setback, task.Claims = &j.judged.Payload, setback, claims(in.Earlier)
		task = visible(plan, task)
		if err := l.save(ctx, j.req, agentFile(j.round, plan.Name, fmt.Sprintf("%d.request.json", try)), task); err != nil {
			return review.FixWork{}, err
		}
		task, err := l.agentTask(ctx, j.req, plan, task, in.Snapshot.Range)
		if err != nil {
			return review.FixWork{}, err
		}
		limited, done := l.limited(ctx, j.left())
		defer done()
		work, err := l.Executor.Fix(limited, plan, review.FixOrder{
			Run: j.req.Run, Task: task, Round: j.round, Try: try, Reviewed: in.Snapshot.Range.Head, From: from, Base: in.Snapshot.Range.Base,
			Verify: j.req.Fix.Verify, Checks: checkRuns(j.req.Fix), Detected: j.req.Fix.Detected, Setup: j.unset,
			Allow: j.req.Fix.Allow, Guidance: j.req.Context.Guidance, First: j.own.HeadSHA, PRFiles: j.own.ChangedFiles, PRLines: j.lines,
			At: j.req.Started,
		}, l.forwardEvent)
		switch {
		case ctx.Err() != nil:
			return review.FixWork{}, context.Cause(ctx)
		case errors.Is(err, sanitize.ErrKnownSecret):
			if work.Answer, err = l.caught(ctx, j.req.Run, plan, work.Answer.Receipt, "commit messages", sanitize.AnyCredential); err != nil {
				return review.FixWork{}, err
			}
			work = review.FixWork{Answer: work.Answer}
		case err != nil && limited.Err() == nil:
			return review.FixWork{}, err
		case limited.Err() != nil && (err != nil || work.Answer.Receipt.State != review.AgentComplete):
			work = lost(limited, work)
		}
		if err := rewritten.Hit(); err != nil {
			return review.FixWork{}, err
		}
		work.Answer.Receipt.Name, work.Answer.Receipt.Role, work.Answer.Receipt.Kind = plan.Name, plan.Role, plan.Kind
		if work, err = j.guard(ctx, work); err != nil {
			return review.FixWork{}, err
		}
		refused, err := l.valued(ctx, in.Snapshot.Range.Head, work.Tip, work.Commits)
		if err != nil {
			return review.FixWork{}, err
		}
		if work.Refusals = append(work.Refusals, refused...); len(work.Refusals) > 0 {
			work.Tip, work.Commits = "", nil // nothing of it is let through
		}
		switch err := j.unseen(limited, &work); {
		case ctx.Err() != nil:
			return review.FixWork{}, context.Cause(ctx)
		case err != nil && limited.Err() == nil:
			return review.FixWork{}, err
		case err != nil:
			work = lost(limited, work)
		}
		redactWork(&work, l.Learned)
		if err := l.save(ctx, j.req, agentFile(j.round, plan.Name, fmt.Sprintf("%d.answer.json", try)), work); err != nil {
			return review.FixWork{}, err
		}
		l.emit(review.Event{Kind: review.EventState, Agent: plan.Name, State: work.Answer.Receipt.State, Message: mending(work.Answer)})
		return work, nil
	})
}

// lost is work of which nothing is kept, since the time for it was over: what it cost stays.
func lost(limited context.Context, work review.FixWork) review.FixWork {
	work = review.FixWork{Answer: review.Answer{Receipt: work.Answer.Receipt, Log: work.Answer.Log}}
	r := &work.Answer.Receipt
	r.State, r.Reason, r.Detail = review.AgentFailed, errWallTime.Error(), ""
	cut(limited, r)
	return work
}

// mostCheckRuns is how often the builtin fixer may have the verify commands run in one try.
const mostCheckRuns = 3

// checkRuns is how often a fixer may have the verify commands run before it hands its work over. Those with means of their own, and
// those where nothing is verified, may not.
func checkRuns(f *FixPlan) int {
	if f.Agent.Kind != review.KindBuiltin || len(f.Verify) == 0 {
		return 0
	}
	return mostCheckRuns
}

// guard fails the fixer when its words or one of its commits carry a credential this process holds (threats.md T30): nothing of
// its work is kept.
func (j *fixing) guard(ctx context.Context, work review.FixWork) (review.FixWork, error) {
	l := j.loop
	what, kind, err := l.held(ctx, work, j.judged.Inputs.Snapshot.Range.Head, work.Tip, work.Commits)
	if kind == "" || err != nil {
		return work, err
	}
	answer, err := l.caught(ctx, j.req.Run, j.req.Fix.Agent, work.Answer.Receipt, what, kind)
	return review.FixWork{Answer: answer}, err
}
