package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// builds begins the names of build caches of pull requests. Those of another prefix were left by tries as well (threats.md T320).
const builds = "builds-"

// newExecutor puts the workspace of a run together. What the repository has a say in comes from the plan, which a resumed run
// has too; settings are the operator's of today.
func (r *run) newExecutor(c *agentrun.Launcher, req orchestrator.Request, lease *store.Lease) *agentrun.FixExecutor {
	b := &agentrun.FixExecutor{Launcher: c}
	if lease != nil {
		b.Held, b.Sure = lease.Check, lease.Sure
	}
	b.Server = func(repo review.Repo) git.Server {
		clone := r.client.Pushed(repo)
		return git.Server{URL: clone.URL, Helper: clone.Helper, Credential: clone.Env}
	}
	b.MayPush = func(ctx context.Context, pr review.PullRequest) (string, error) {
		if !r.settings.Fix.UntrustedAuthors {
			if why, err := r.mayFix(ctx, pr); why != "" || err != nil {
				return why, err
			}
		}
		right, err := r.client.MayPush(ctx, pr)
		if right.Allowed {
			return "", err
		}
		return right.Reason, err
	}
	if b.Withheld, b.ReadAll = req.Context.NeverRead, req.Context.VerifyMayRead; req.Fix != nil {
		plan := req.Fix
		b.VerifyTimeout, b.VerifyEnv = plan.VerifyTimeout, r.opts.Machine.VerifyEnv
		b.Setup, b.SetupAt, b.Whose = plan.Setup, plan.SetupAt, req.Target.Repo.Host+"/"+req.Target.Repo.String()+" "+req.BaseRef
		b.Registries, b.Layers, b.Builds = r.settings.VerifyRegistries, r.layers(), builds+fingerprint(req.Target.Repo.Host+"/"+req.Target.String())
		if len(b.Setup) == 0 || len(b.Registries) == 0 { // else the repository's own packages are there
			b.Lent = r.opts.Machine.lent(r.settings.LendCaches)
		}
		r.cleanup.add(func() {
			if err := b.Close(); err != nil {
				r.log.Warn("what a setup left is still held", "err", err)
			}
		})
	}
	return b
}

// planFix settles who fixes and under which rules; nil, and a sentence for the report, when a fixer is configured and may
// not work here.
func (r *run) planFix(ctx context.Context, o Order, pr review.PullRequest, base string, w agentrun.Confinement) (*orchestrator.FixPlan, string, error) {
	settings := r.settings
	fixer, some := planFixer(settings, o.Dir)
	if !some || !o.fixes(settings, o.Target.Local()) {
		return nil, "", nil
	}
	if w.On() && !w.Full() {
		return nil, nobodyFixes("a fixer needs full containment, and this machine gives less (see `prloop doctor`)"), nil
	}
	if !settings.Fix.UntrustedAuthors {
		why, err := r.mayFix(ctx, pr)
		if err != nil {
			return nil, "", err
		}
		if why != "" {
			return nil, nobodyFixes(why), nil
		}
	}
	plan := &orchestrator.FixPlan{
		Agent: fixer, Limits: fixLimits(settings), Verify: settings.Verify, VerifyTimeout: settings.VerifyTimeout, Allow: settings.Fix.AllowPaths,
	}
	switch {
	case len(settings.VerifySetup) == 0:
	case w.Full():
		plan.Setup, plan.SetupAt = settings.VerifySetup, base
	default:
		plan.SetupOff = "`verify_setup` was not run: it needs the sandbox, which is switched off."
	}
	right, err := r.client.MayPush(ctx, pr)
	if err != nil {
		return nil, "", err
	}
	if !right.Allowed {
		plan.PatchOnly = right.Reason
	}
	if plan.Silent, err = r.client.ActionsToken(ctx); err != nil {
		return nil, "", err
	}
	if settings.Verify != nil {
		return plan, "", nil
	}
	found, err := fixspace.Detect(func(name string) ([]byte, error) {
		data, err := r.history.ReadFile(ctx, base, name)
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

// nobodyFixes is what the report says when a configured fixer may not work.
func nobodyFixes(why string) string { return "Automatic fixing is disabled: " + why + "." }
