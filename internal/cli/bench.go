package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/prloop/prloop/agents"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/workbench"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Where a kill has to be survived (security 6.1, K18 and K19).
var (
	fixerAsked    = failpoint.New("fixer: asked")
	fixerAnswered = failpoint.New("fixer: answered")
)

// bench lends the loop the workbench.
type bench struct {
	*workbench.Bench
	asker  *asker
	github *github.Client
	// mayPush says why nothing may be pushed to a pull request's branch now; empty when it may.
	mayPush func(ctx context.Context, pr review.PullRequest) (string, error)
	// lease is asked before anything is pushed; nil when nobody shares the pull request.
	lease *store.Lease
}

// newBench puts the workbench of a run together. What the repository has a say in comes from the plan, which a resumed run
// has too; settings are the operator's of today.
func (s *session) newBench(a *asker, settings config.Settings, plan *orchestrator.FixPlan, lease *store.Lease) (*bench, error) {
	b := &bench{asker: a, github: s.github, lease: lease}
	b.mayPush = func(ctx context.Context, pr review.PullRequest) (string, error) {
		if !settings.Fix.UntrustedAuthors {
			if why, err := s.mayFix(ctx, pr); why != "" || err != nil {
				return why, err
			}
		}
		right, err := s.github.MayPush(ctx, pr)
		if right.Allowed {
			return "", err
		}
		return right.Reason, err
	}
	b.Bench = &workbench.Bench{Repo: a.history.repo, Scratch: a.scratch, Confine: a.confineJob}
	if plan == nil {
		return b, nil
	}
	env, err := s.p.verifyEnv()
	b.Verifying = workbench.VerifyOptions{Timeout: plan.VerifyTimeout, Read: a.walls.read, Env: env}
	return b, err
}

// confineJob puts verify commands and what takes a fixer's work out of its clone behind the walls. They get no gateway.
func (a *asker) confineJob(policy sandbox.Policy, cmd sandbox.Command) (sandbox.Command, error) {
	if !a.walls.on {
		return cmd, nil
	}
	policy.MinTier = a.walls.weakest
	policy.ReadOnly = append(policy.ReadOnly, a.walls.read...)
	policy.Hide = append(policy.Hide, a.state)
	return a.walls.machine.Wrap(policy, cmd)
}

// Fix is one try of the fixer.
func (b *bench) Fix(ctx context.Context, o orchestrator.FixOrder, emit func(review.Event)) (orchestrator.FixWork, error) {
	var point error
	one := *b.Bench // Ask is this order's own
	one.Ask = func(ctx context.Context, task review.Task, clone string, emit func(review.Event)) agents.Answer {
		if point = fixerAsked.Hit(); point != nil {
			return unasked(o.Plan, point)
		}
		got := b.asker.answer(ctx, o.Plan, task, clone, emit)
		point = fixerAnswered.Hit()
		return got
	}
	order := workbench.Order{
		Run: o.Run, Round: o.Round, Try: o.Try, Reviewed: o.Reviewed, From: o.From, Task: o.Task, Allow: o.Allow,
		PRFiles: o.PRFiles, PRLines: o.PRLines, FixedAt: o.At, Emit: emit,
	}
	if o.Plan.Kind == kindACP {
		order.Aside = agentConfiguration()
	}
	w, err := one.Fix(ctx, order)
	if err = errors.Join(point, err); err != nil {
		return orchestrator.FixWork{}, err
	}
	return orchestrator.FixWork{
		Answer: told(w.Answer), Tip: w.Tip, Commits: w.Commits, Refusals: w.Refusals, Tests: w.Tests, Files: w.Files, Lines: w.Lines, Notes: w.Notes,
	}, nil
}

// Verify runs commands on a commit.
func (b *bench) Verify(ctx context.Context, commit string, commands []string, news func(review.Check)) ([]review.Check, error) {
	return b.Bench.Verify(ctx, workbench.VerifyOrder{Commit: commit, Commands: commands, News: news})
}

// Push moves the pull request's branch, if this run still holds the pull request (security T93).
func (b *bench) Push(ctx context.Context, pr review.PullRequest, from, to string) (orchestrator.Pushed, error) {
	if b.lease != nil {
		if err := b.lease.Check(ctx); err != nil {
			return orchestrator.Pushed{}, err
		}
	}
	clone := b.github.Clone(pr.HeadRepo)
	server := git.Server{URL: clone.URL, Helper: clone.Helper, Env: clone.Env}
	// What grants something is asked when it happens, and again when it is used (security 2, S9).
	why, err := b.mayPush(ctx, pr)
	if err != nil {
		return orchestrator.Pushed{}, err
	}
	if why != "" {
		if head, err := b.Repo.RemoteHead(ctx, server, "refs/heads/"+pr.HeadRef); err == nil && head == to {
			return orchestrator.Pushed{Done: true}, nil // by us, before the right was taken away
		}
		return orchestrator.Pushed{Refused: why}, nil
	}
	got, err := b.Bench.Push(ctx, git.PushOptions{
		Server: server, Ref: "refs/heads/" + pr.HeadRef, Old: from, New: to,
	})
	switch {
	case err != nil:
		return orchestrator.Pushed{}, err
	case got.Outcome == git.Refused:
		return orchestrator.Pushed{Refused: workbench.Refused(got)}, nil
	case got.Outcome == git.Moved && got.Head == "":
		return orchestrator.Pushed{Refused: "the branch does not exist any more"}, nil
	case got.Outcome == git.Moved:
		return orchestrator.Pushed{Head: got.Head}, nil
	}
	return orchestrator.Pushed{Done: true}, nil
}

// patchLimitBytes is the largest patch that is handed over.
const patchLimitBytes = 4 << 20

// Patch is a fix as text. One that is too large is no fault of the run, which has to come to its end.
func (b *bench) Patch(ctx context.Context, from, to string) (string, error) {
	patch, err := b.Bench.Patch(ctx, from, to, patchLimitBytes)
	if errors.Is(err, git.ErrTooLarge) {
		return "", nil
	}
	return patch, err
}

// planFix settles who fixes and under which rules; nil, and a sentence for the report, when a fixer is configured and may
// not work here.
func (s *session) planFix(ctx context.Context, o runOptions, settings config.Settings, pr review.PullRequest, h *history, base string, w walls) (*orchestrator.FixPlan, string, error) {
	fixer, some := planFixer(settings, s.p.Dir)
	if !some || o.dryRun || pr.Number == 0 || settings.Rounds == 1 {
		return nil, "", nil
	}
	if w.on && !w.ownNetwork {
		return nil, "Nobody fixes: a fixer needs full containment, and this machine gives less (see `prloop doctor`).", nil
	}
	if !settings.Fix.UntrustedAuthors {
		if why, err := s.mayFix(ctx, pr); why != "" || err != nil {
			return nil, why, err
		}
	}
	plan := &orchestrator.FixPlan{
		Agent: fixer, Limits: fixLimits(settings), Verify: settings.Verify, VerifyTimeout: settings.VerifyTimeout, Allow: settings.Fix.AllowPaths,
	}
	right, err := s.github.MayPush(ctx, pr)
	if err != nil {
		return nil, "", err
	}
	if !right.Allowed {
		plan.PatchOnly = right.Reason
	}
	if plan.Silent, err = s.github.ActionsToken(ctx); err != nil {
		return nil, "", err
	}
	if settings.Verify != nil {
		return plan, "", nil
	}
	found, err := workbench.Detect(func(name string) ([]byte, error) {
		data, err := h.ReadFile(ctx, base, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fs.ErrNotExist
		}
		return data, err
	})
	if err != nil {
		return nil, "", fmt.Errorf("detect the verify commands: %w", err)
	}
	plan.Detected = true
	for _, d := range found {
		plan.Verify = append(plan.Verify, d.Command)
	}
	return plan, "", nil
}
