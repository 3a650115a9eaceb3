package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/live"
	"github.com/prloop/prloop/internal/risk"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// order is everything that is settled before a run begins.
type order struct {
	request  orchestrator.Request
	settings config.Settings
	history  *history
}

// run is `prloop run`.
func (p *Proc) run(ctx context.Context, o runOptions) error {
	if err := p.readKey(&o); err != nil {
		return err
	}
	if err := p.foresee(o); err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	s, err := p.openSession(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	s.openEngine(ctx)
	if o.base == "" {
		go warm()
	}
	ord, err := s.prepare(ctx, o)
	if err != nil {
		return err
	}
	req := ord.request
	if s.cassette, err = p.cassette(o); err != nil {
		return err
	}
	view := p.view(o)
	begin(view, req)
	lease, err := s.hold(ctx, req.Target, req.Run, req.DryRun, lost)
	if err != nil {
		view.Close()
		return err
	}
	loop, err := s.loop(ctx, req, ord.settings, ord.history, lease, view.Event)
	if err != nil { // a wrong key ends it here, before there is a run
		view.Close()
		return err
	}
	st, err := p.store(req, ord.settings, s.cassette)
	if err == nil {
		err = s.recordRun(ctx, st)
	}
	if err != nil {
		view.Close()
		return err
	}
	return s.drive(ctx, req.Run, &st, o, view, func(context.Context, stored) (*orchestrator.Loop, error) { return loop, nil })
}

// warm loads what every run of a pull request needs, while GitHub is waited for. A local range waits for nobody, and need not
// hold it all at once.
func warm() {
	config.Warm(config.Operator)
	sanitize.Warm()
}

// drive runs or continues a run under the live view, prints its result and turns it into an exit status.
func (s *session) drive(ctx context.Context, run string, st *stored, o runOptions, view *live.View, build builder) error {
	result, err := s.execute(ctx, run, st, build)
	result.Artifacts = s.folder.Path(run)
	if err != nil {
		view.Close()
		return err
	}
	if err := s.p.show(view, s, result, o); err != nil {
		return err
	}
	if result.Outcome == review.Failed {
		return s.failed(result)
	}
	return exitStatus(result.ExitStatus())
}

// prepare settles target, commits, configuration and agents.
func (s *session) prepare(ctx context.Context, o runOptions) (order, error) {
	if o.base != "" {
		return s.prepareLocal(ctx, o)
	}
	target, err := s.target(ctx, o)
	if err != nil {
		return order{}, err
	}
	pr, err := s.github.PullRequest(ctx, target.Repo, target.PR)
	if err != nil {
		return order{}, err
	}
	switch {
	case pr.State != "OPEN":
		return order{}, usage(afterClosing(pr.State), "%s is %s", target, lower(pr.State))
	case pr.Draft && !o.allowDraft:
		return order{}, usage("mark it ready for review, or use --draft", "%s is a draft", target)
	}
	if !o.dryRun {
		if err := s.github.CanComment(ctx, pr); err != nil {
			return order{}, err
		}
	}
	work, rules, err := s.baseHistory(ctx, target, pr)
	if err != nil {
		return order{}, err
	}
	return s.settle(ctx, o, target, pr, work, rules)
}

// baseHistory pins a pull request, and reads its rules.
func (s *session) baseHistory(ctx context.Context, target review.Target, pr review.PullRequest) (pinned, rules, error) {
	h, err := s.openHistory(ctx, target, "", "")
	if err != nil {
		return pinned{}, rules{}, err
	}
	commits, err := h.Pin(ctx, target, pr, "")
	if err != nil {
		return pinned{}, rules{}, err
	}
	r, err := s.baseRules(ctx, h, pr, commits)
	return pinned{h, commits}, r, err
}

// afterClosing is the next step for a pull request that is not open: GitHub reopens a closed one, and never a merged one.
func afterClosing(state string) string {
	if strings.EqualFold(state, "merged") {
		return "open a new one for what is left to do, or check the merged commits out and review them with: prloop run --base REVISION"
	}
	return "reopen it, or review the commits with: prloop run --base REVISION"
}

func (s *session) prepareLocal(ctx context.Context, o runOptions) (order, error) {
	target := review.Target{Base: o.base}
	work, rules, err := s.localHistory(ctx, target)
	if err != nil {
		return order{}, err
	}
	return s.settle(ctx, o, target, review.PullRequest{}, work, rules)
}

// pinned is what is reviewed: commits, and the repository they are in.
type pinned struct {
	history *history
	commits orchestrator.Range
}

// localHistory pins the range between a base and the working tree, and reads the rules there.
func (s *session) localHistory(ctx context.Context, target review.Target) (pinned, rules, error) {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return pinned{}, rules{}, err
	}
	checkout, err := g.Checkout(s.p.Dir)
	if err != nil {
		return pinned{}, rules{}, err
	}
	r, err := treeRules(checkout.Top, s.p.Dir)
	if err != nil {
		return pinned{}, rules{}, err
	}
	h, err := s.openHistory(ctx, target, checkout.Top, "")
	if err != nil {
		return pinned{}, rules{}, err
	}
	commits, err := h.Pin(ctx, target, review.PullRequest{}, checkout.Top)
	return pinned{h, commits}, r, err
}

// settle resolves the settings and makes the request.
func (s *session) settle(ctx context.Context, o runOptions, target review.Target, pr review.PullRequest, work pinned, rules rules) (order, error) {
	h, r := work.history, work.commits
	rules.tell(s.p)
	settings, err := s.p.settings(o, rules, target.Local())
	if err != nil {
		return order{}, err
	}
	about := orchestrator.ContextOptions{Include: settings.Context.Include, Exclude: settings.Context.Exclude, Guidance: settings.Context.Guidance}
	s.beginBrief(ctx, h, r, about, settings.Limits, target.Local())
	secrets, err := s.p.secrets()
	if err != nil {
		return order{}, err
	}
	walls, err := s.p.walls(ctx, target)
	if err != nil {
		return order{}, err
	}
	agents := plan(settings, target, s.p.Dir)
	if err := markSensitive(ctx, h, r.Base, agents); err != nil {
		return order{}, err
	}
	if err := startable(agents...); err != nil { // those of the repository's file; the operator's were found before
		return order{}, err
	}
	fix, fixOff, err := s.planFix(ctx, o, settings, pr, h, r.Base, walls)
	if err != nil {
		return order{}, err
	}
	if fix != nil {
		if err := startable(fix.Agent); err != nil {
			return order{}, err
		}
	}
	head := r.Head
	id := orchestrator.ReviewID(target, head, prompts.Version, agents, settings.Limits)
	started := time.Now().UTC()
	req := orchestrator.Request{
		Run: orchestrator.RunID(started, id), ReviewID: id, Target: target, Head: head, Agents: agents,
		MinReviewers: settings.MinReviewers, MinSupport: settings.MinSupport, Threshold: settings.ScoreThreshold, DryRun: o.dryRun,
		WallTime: settings.WallTime, PromptVersion: prompts.Version, Limits: settings.Limits, Started: started, Checkout: rules.top,
		Isolation: walls.Report(), Config: rules.from, Rounds: settings.Rounds, Fix: fix, FixOff: fixOff, Context: about,
		BaseRef: sanitize.Mask(pr.BaseRef), Secrets: secrets,
	}
	return order{request: req, settings: settings, history: h}, nil
}

// markSensitive tells builtin agents when the repository handles personal or financial data, as its own description at the
// base commit says (spec.md D3.1).
func markSensitive(ctx context.Context, h *history, base string, agents []orchestrator.AgentPlan) error {
	var about strings.Builder
	for _, name := range risk.Described {
		text, err := h.ReadFile(ctx, base, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s at the base commit: %w", name, err)
		}
		about.Write(text)
		about.WriteByte('\n')
	}
	if _, sensitive := risk.Sensitive(about.String()); !sensitive {
		return nil
	}
	for i := range agents {
		if agents[i].Kind == kindBuiltin {
			agents[i].Settings[risk.Setting] = "true"
		}
	}
	return nil
}

// target finds the pull request a person means, and connects to its host.
func (s *session) target(ctx context.Context, o runOptions) (review.Target, error) {
	here, branch, err := s.here(ctx, o)
	if err != nil {
		return review.Target{}, err
	}
	if o.target != "" {
		t, err := github.ParseTarget(o.target, here)
		if err != nil {
			return t, err
		}
		_, err = s.openGitHub(ctx, t.Repo.Host)
		return t, err
	}
	if branch == "" {
		return review.Target{}, usage("name one: prloop run 123", "no pull request was named, and this folder is on no branch")
	}
	c, err := s.openGitHub(ctx, here.Host)
	if err != nil {
		return review.Target{}, err
	}
	n, err := c.PullRequestOfBranch(ctx, here, "", branch)
	return review.Target{Repo: here, PR: n}, err
}

// here is the repository named by -R, GH_REPO or the checkout's remotes, and the current branch. Neither is needed when a
// full address is given, so being outside a repository is not an error yet.
func (s *session) here(ctx context.Context, o runOptions) (review.Repo, string, error) {
	host := github.DefaultHost(s.p.Env)
	named := o.repo
	if named == "" {
		named = s.p.env("GH_REPO")
	}
	var branch string
	var remotes []github.Remote
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return review.Repo{}, "", err
	}
	if c, err := g.Checkout(s.p.Dir); err == nil {
		if branch, err = c.Branch(ctx); err != nil && !errors.Is(err, git.ErrDetached) {
			return review.Repo{}, "", err
		}
		list, err := c.Remotes(ctx)
		if err != nil {
			return review.Repo{}, "", err
		}
		for _, r := range list {
			remotes = append(remotes, github.Remote(r))
		}
	}
	if named != "" {
		repo, err := github.ParseRepo(named, host)
		return repo, branch, err
	}
	repo, err := github.RepoOfRemotes(remotes, github.KnownHosts(s.p.Env))
	if err != nil && (o.target == "" || isNumber(o.target)) {
		if len(remotes) == 0 {
			return review.Repo{}, "", usage("use -R OWNER/REPO, give the pull request's URL, or go to a checkout", "%s is not in a checkout of a GitHub repository", filepath.Base(s.p.Dir))
		}
		return review.Repo{}, "", err
	}
	if repo.Host == "" {
		repo.Host = host
	}
	return repo, branch, nil
}
