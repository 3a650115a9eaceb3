package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/prloop/prloop/review"
)

// verification is one pass of the verify commands.
type verification struct {
	Checks []review.Check `json:"checks"`
	// Seconds is the wall time it took, what ran on the reviewed head included.
	Seconds float64 `json:"seconds"`
	// Cut is true when the wall time ran out before it was known whether they pass.
	Cut bool `json:"cut,omitempty"`
	// Lost is true when the commit is nowhere to be had.
	Lost bool `json:"lost,omitempty"`
}

// setUp makes ready what the verify commands need, for as long as there is time. One that fails ends nothing: commands that need it fail
// by themselves, and no fixer is asked to mend that.
func (j *fixing) setUp(ctx context.Context) ([]review.Check, error) {
	plan := j.req.Fix
	if len(plan.Verify) == 0 || len(plan.Setup) == 0 {
		return nil, nil
	}
	out, err := doJSON(ctx, j.steps, fmt.Sprintf("round %d: set up the verify commands", j.round), func(ctx context.Context) (verification, error) {
		j.loop.say("setting up the verify commands")
		limited, done := j.loop.limited(ctx, j.left())
		defer done()
		began := j.loop.Now()
		checks, err := j.loop.Executor.SetUp(limited, func(c review.Check) {
			j.loop.emit(review.Event{Kind: review.EventCheck, Head: plan.SetupAt, Check: &c})
		})
		switch {
		case ctx.Err() != nil:
			return verification{}, context.Cause(ctx)
		case err != nil && limited.Err() == nil:
			return verification{}, err
		case err != nil:
			checks = []review.Check{{Command: j.loop.Learned.Redact(plan.Setup[0]), State: review.CheckTimeout, ExitCode: -1, Log: "the setup " + cutWords(limited)}}
		}
		return verification{Checks: checks, Seconds: j.loop.Now().Sub(began).Seconds()}, nil
	})
	j.spent += seconds(out.Seconds)
	return out.Checks, err
}

// verify runs the commands on a commit, which news call what, for as long as there is time. One that was only detected and fails on the reviewed
// head as well says nothing about the fix and is set aside; one that was configured binds. onBranch says that the commit was pushed.
func (j *fixing) verify(ctx context.Context, step, what, commit string, onBranch bool, reviewed string, left time.Duration) (verification, error) {
	plan := j.req.Fix
	if len(plan.Verify) == 0 {
		return verification{}, nil
	}
	out, err := doJSON(ctx, j.steps, step, func(ctx context.Context) (verification, error) {
		if err := verifying.Hit(); err != nil {
			return verification{}, err
		}
		if ok, err := j.loop.History.Have(ctx, commit); err != nil || !ok {
			return verification{Lost: err == nil}, err
		}
		j.loop.say("checking " + what)
		out, err := j.checkOut(ctx, commit, onBranch, plan.Verify, left)
		if err != nil || out.Cut || !plan.Detected || len(failing(out.Checks)) == 0 {
			return out, err
		}
		var again []string
		for i, c := range out.Checks {
			if !c.Good() {
				again = append(again, plan.Verify[i])
			}
		}
		before, err := j.checkOut(ctx, reviewed, true, again, left-seconds(out.Seconds))
		if err != nil {
			return out, err
		}
		out.Seconds += before.Seconds
		out.Cut = before.Cut
		for i := range out.Checks {
			for _, b := range before.Checks {
				if !before.Cut && b.Command == out.Checks[i].Command && !b.Good() && !out.Checks[i].Good() {
					out.Checks[i].State, out.Checks[i].Log = review.CheckSkipped, "it does not pass on the reviewed head either"
				}
			}
		}
		return out, nil
	})
	j.spent += seconds(out.Seconds)
	return out, err
}

// checkOut runs commands on one commit. Those that the end of the wall time cut, or kept from starting, did not pass.
func (j *fixing) checkOut(ctx context.Context, commit string, onBranch bool, commands []string, left time.Duration) (verification, error) {
	limited, done := j.loop.limited(ctx, left)
	defer done()
	began := j.loop.Now()
	var ended []review.Check
	checks, err := j.loop.Executor.Verify(limited, commit, onBranch, commands, func(c review.Check) {
		if c.State != "" {
			ended = append(ended, c)
		}
		j.loop.emit(review.Event{Kind: review.EventCheck, Head: commit, Check: &c})
	})
	switch {
	case ctx.Err() != nil:
		return verification{}, context.Cause(ctx)
	case err != nil && limited.Err() == nil:
		return verification{}, err
	case err != nil:
		// A configured command that failed has said all there is to say.
		out := verification{Checks: ended, Seconds: max(left, 0).Seconds(), Cut: j.req.Fix.Detected || len(failing(ended)) == 0}
		for _, c := range commands[min(len(ended), len(commands)):] {
			out.Checks = append(out.Checks, review.Check{Command: j.loop.Learned.Redact(c), State: review.CheckTimeout, ExitCode: -1, Log: "it " + cutWords(limited)})
		}
		return out, nil
	}
	out := verification{Checks: slices.Clone(checks)}
	for _, c := range checks {
		out.Seconds += c.Seconds
	}
	out.Seconds = max(out.Seconds, j.loop.Now().Sub(began).Seconds())
	return out, nil
}
