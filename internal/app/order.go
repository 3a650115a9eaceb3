package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/drafts"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/score"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/internal/weight/calibration"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Order is what somebody wants reviewed, and how.
type Order struct {
	// Target is the pull request, or a local change of the checkout at Dir. Which commit a change is, if it is one, is found out.
	Target review.Target
	// Head is the commit that the pull request has to be at; empty for any.
	Head string
	// Revision names the commit of a review.ChangeCommit, Patch is the text of a review.ChangePatch.
	// Index is the file of a review.ChangeStaged where git names one; empty for the checkout's own.
	Revision string
	Patch    []byte
	Index    string
	// Dir is the folder the person is in, where relative programs start; empty when there is none.
	Dir string
	// Layers are the settings' layers. The service reads the repository's file and fills in what follows from the target.
	Layers config.Input
	// Cassette records or replays conversations with models.
	Cassette gateway.Cassette
	// DryRun posts nothing; Drafts reviews a draft too. Estimate is true where the run is prepared and not begun: nothing is said of it.
	DryRun, Drafts, Estimate bool
	// Asked is the line of a comment that the order comes from; nil for none. Bot is the login whose mention is heard, that of the credential's app where it is empty. Itself is true where nobody asked: a server or
	// an event began it, the event at Since, by GitHub's clock.
	Asked  *review.Asked
	Bot    string
	Itself bool
	Since  time.Time
	// Force asks agents and posts although an earlier run answers the order (decision 43).
	Force bool
	// Case is set for a local range that is a review case; nil for any other.
	Case *Case
	// Command is set when one command is all that is wanted, and no review.
	Command *CommandOrder
	// Note hears of what a person may have expected to count, and does not; nil for nobody.
	Note func(string)
}

// CommandOrder names a command of the repository's file.
type CommandOrder struct {
	ID string
	// Args is the text behind it, as it was written; Argv its words, where they came apart.
	Args string
	Argv []string
}

// Case is what a local range of a review case has of its own (eval.md "Run").
type Case struct {
	// Title and Body are those of the pull request.
	Title, Body string
	// Rules stand in for the .reviewerc of the tree.
	Rules Rules
}

// fixes reports whether the fixer may be asked at all.
func (o Order) fixes(settings config.Settings, local bool) bool {
	return !o.DryRun && !local && settings.Rounds > 1 && o.Command == nil
}

// Settings resolves all layers.
func (o Order) Settings(r Rules) (config.Settings, error) {
	in := o.Layers
	in.Repository, in.Policy, in.Local, in.Top, in.Replayed = r.File, r.Policy, o.Target.Local(), r.Top, o.Cassette.Mode == gateway.Replay
	return config.Resolve(in)
}

// EarlySettings resolves the layers as far as they are known without the repository's file, and before the target is: local tells
// whether it will be a local range.
func (o Order) EarlySettings(local bool) (config.Settings, error) {
	in := o.Layers
	in.Local, in.Replayed = local, o.Cassette.Mode == gateway.Replay
	return config.ResolveEarly(in)
}

// unheeded refuses flags that only count where a model is asked, for an order that asks none; the environment, which may be meant for other
// orders, is worth a note.
func (o Order) unheeded() error {
	for _, g := range o.Layers.Given {
		if slices.Contains([]string{"model", "effort", "tier"}, g.Key) {
			return &UnheededError{g.From}
		}
	}
	if o.Note != nil && o.Layers.Env != nil && o.Layers.Env("PRLOOP_MODEL") != "" {
		o.Note("PRLOOP_MODEL has no effect: no model is configured; set OPENAI_API_KEY")
	}
	return nil
}

// note tells what the rules have to say.
func (o Order) note(r Rules) {
	if o.Note == nil {
		return
	}
	for _, n := range r.Notes {
		o.Note(n)
	}
}

// Preflight refuses what an order proves wrong by itself, before GitHub is asked and before there is a run. A reviewer's name may
// stand in the repository's file, which is not known yet; nor need the pull request be, unless local says that there is none.
func Preflight(o Order, local bool) error {
	settings, err := o.EarlySettings(local)
	if err != nil {
		return err
	}
	var agents []orchestrator.AgentPlan
	if o.Command == nil {
		agents = plan(settings, o.Target, o.Dir)
	}
	if fixer, some := planFixer(settings, o.Dir); some && o.fixes(settings, local) {
		agents = append(agents, fixer)
	}
	if _, err := readCalibration(settings); err != nil {
		return err
	}
	return startable(agents...)
}

// readCalibration reads the table of the settings; nil when there is none.
func readCalibration(s config.Settings) (*calibration.Table, error) {
	if s.Calibration == "" {
		return nil, nil
	}
	data, err := os.ReadFile(s.Calibration)
	if err != nil {
		return nil, &CalibrationError{s.Calibration, err}
	}
	t, err := calibration.Decode(data)
	if err != nil {
		return nil, &CalibrationError{s.Calibration, err}
	}
	return &t, nil
}

// Prepared is a run that is settled and has not begun.
type Prepared struct {
	Request orchestrator.Request
	run     *run
	// job is set for a scheduled job.
	job *scheduled
}

// Close ends what a prepared run has open, if it is not to be started.
func (p *Prepared) Close() { p.run.cleanup.run() }

// Prepare settles the commits, the configuration and the agents of a run. Nothing is stored or posted, but that a success which the head has for another base
// branch is taken back (threats.md T578).
func (s *Service) Prepare(ctx context.Context, o Order) (*Prepared, error) {
	s.warm()
	r := &run{Service: s, cassette: o.Cassette}
	req, err := r.prepare(ctx, o)
	if err != nil {
		r.cleanup.run()
		return nil, err
	}
	r.id = req.Run
	return &Prepared{Request: req, run: r}, nil
}

func (r *run) prepare(ctx context.Context, o Order) (req orchestrator.Request, err error) {
	var pr review.PullRequest
	if !o.Target.Local() {
		go config.Warm(config.Operator) // which every run needs, while GitHub is waited for
		if err = r.meet(ctx, o.Target.Repo); err != nil {
			return orchestrator.Request{}, err
		}
		if pr, err = r.client.PullRequest(ctx, o.Target.Repo, o.Target.PR); err != nil {
			return orchestrator.Request{}, err
		}
		o.Target.Repo, r.repoID, r.author = pr.Repo, pr.RepoID, pr.Author // leases, runs and markers go by the name: it is GitHub's spelling, whatever was typed
		if pr.State != "OPEN" {
			return orchestrator.Request{}, &ClosedError{o.Target, pr.State}
		}
		if o.Head != "" && o.Head != pr.HeadSHA {
			return orchestrator.Request{}, &MovedOnError{o.Target, o.Head, pr.HeadSHA}
		}
		if drafts.Why(pr.Draft, o.Drafts, o.Asked != nil || o.Command != nil) != "" {
			return orchestrator.Request{}, &DraftError{o.Target}
		}
		if o.speaks() {
			defer func() {
				if err != nil {
					r.unprepared(ctx, o, pr)
				}
			}()
			if err := r.NotYet(ctx, pr, false, false); err != nil {
				return orchestrator.Request{}, err
			}
		}
		if !o.DryRun {
			if err := r.client.CanComment(ctx, pr); err != nil {
				return orchestrator.Request{}, err
			}
			if o.Bot == "" {
				if o.Bot, err = botOf(ctx, r.client); err != nil {
					return orchestrator.Request{}, err
				}
			}
			if r.stops, err = r.stopsOf(ctx, pr, o); err != nil {
				return orchestrator.Request{}, err
			}
		}
	}
	w, err := r.pin(ctx, o, pr)
	r.history = w.history
	if err != nil {
		return orchestrator.Request{}, err
	}
	o.Target = w.target
	return r.settle(ctx, o, pr, w)
}

// pinned is what is reviewed: commits, the repository they are in, and the rules they are reviewed by.
type pinned struct {
	target  review.Target
	history *history
	commits orchestrator.Range
	rules   Rules
	// top is the root of the working tree of a local range.
	top string
}

// pin names the commits of an order and reads the repository's rules. pr is the pull request, if it is about one.
func (r *run) pin(ctx context.Context, o Order, pr review.PullRequest) (w pinned, err error) {
	w.target = o.Target
	if o.Target.Local() {
		g, err := r.findGit(ctx)
		if err != nil {
			return w, err
		}
		checkout, err := g.Checkout(o.Dir)
		if err != nil {
			return w, err
		}
		w.top = checkout.Top
		if o.Case != nil {
			w.rules = o.Case.Rules
		} else if w.rules, err = treeRules(checkout.Top, o.Dir); err != nil {
			return w, err
		}
		if w.history, err = r.openHistory(ctx, o.Target, checkout.Top); err != nil {
			return w, err
		}
		if w.target, err = w.history.settled(ctx, o, checkout.Top); err != nil {
			return w, err
		}
		w.commits, err = w.history.Pin(ctx, w.target, pr, checkout.Top)
		return w, err
	}
	if w.history, err = r.openHistory(ctx, o.Target, ""); err != nil {
		return w, err
	}
	if w.commits, err = w.history.Pin(ctx, o.Target, pr, ""); err != nil {
		return w, err
	}
	w.rules, err = r.baseRules(ctx, o.Dir, w.history, pr, w.commits)
	return w, err
}

// settle resolves the settings and makes the request.
func (r *run) settle(ctx context.Context, o Order, pr review.PullRequest, w pinned) (req orchestrator.Request, err error) {
	o.note(w.rules)
	if r.settings, err = o.Settings(w.rules); err != nil {
		return req, err
	}
	settings, target := r.settings, o.Target
	if o.speaks() && o.gate(settings) != nil {
		if err := r.takeBack(ctx, pr, true, false, true); err != nil {
			return req, err
		}
	}
	agents, verify, err := o.planAll(settings)
	if err != nil {
		return req, err
	}
	quick := planQuick(settings, o)
	if quick == nil && onlyRules(agents) && !settings.ModelConfigured() {
		if err := o.unheeded(); err != nil {
			return req, err
		}
	}
	about := contextOf(settings)
	about.Include, about.Guidance, about.DiffOnly = settings.Context.Include, settings.Context.Guidance, !settings.Context.RelatedCode
	about.HunksOnly = verify == nil && !o.fixes(settings, target.Local()) && onlyRules(agents)
	r.history.withhold(about.NeverRead)
	if target.Change == review.ChangePatch {
		if err := r.history.repo.Readable(ctx, w.commits.Base, w.commits.Head, o.Patch); err != nil {
			return req, err
		}
	}
	r.beginBrief(ctx, w.commits, about, settings.Limits, r.opts.Machine.ownRules(target))
	confinement, err := r.opts.Machine.confinement(ctx, target)
	if err != nil {
		return req, err
	}
	sensitive, err := isSensitive(ctx, w.history, w.commits.Base)
	if err != nil {
		return req, err
	}
	worth, err := readCalibration(settings)
	if err != nil {
		return req, err
	}
	if err := startable(agents...); err != nil { // those of the repository's file; the operator's were found before
		return req, err
	}
	asked := agents
	if verify != nil {
		if err := startable(verify.Agent); err != nil {
			return req, err
		}
		asked = append(slices.Clone(agents), verify.Agent)
	}
	var disputes *orchestrator.DisputePlan
	if o.Command == nil {
		disputes = planDisputes(settings, target, o.Dir)
	}
	if disputes != nil {
		if err := startable(disputes.Judges...); err != nil {
			return req, err
		}
	}
	if quick != nil {
		if err := startable(quick.Scout); err != nil {
			return req, err
		}
	}
	find := planFind(settings, o)
	if find != nil {
		if err := startable(find.Agent); err != nil {
			return req, err
		}
	}
	fix, fixOff, err := r.planFix(ctx, o, pr, w.commits.Base, confinement)
	if err != nil {
		return req, err
	}
	if fix != nil {
		if err := startable(fix.Agent); err != nil {
			return req, err
		}
	}
	told := Case{}
	if o.Case != nil {
		told = *o.Case
	}
	head := w.commits.Head
	id := orchestrator.ReviewID(target, head, prompts.Version, asked, settings.Limits)
	started := wallclock.Now().UTC()
	return orchestrator.Request{
		Run: orchestrator.RunID(started, id), ReviewID: id, Target: target, Head: head, Agents: agents,
		MinReviewers: settings.MinReviewers, MinSupport: settings.MinSupport, Threshold: settings.ScoreThreshold,
		Elevation: settings.ElevationThreshold, Sensitive: sensitive, Alone: o.Command != nil, DryRun: o.DryRun, Force: o.Force,
		WallTime: settings.WallTime, PromptVersion: prompts.Version, Limits: settings.Limits, Started: started, Checkout: w.top, Title: told.Title, Body: told.Body,
		Isolation: confinement.Report(), Config: w.rules.From, Rounds: settings.Rounds, Quick: quick, Find: find, Verify: verify, Rule: ruleOf(settings), Budget: settings.NoiseBudget, Sticky: settings.PublishMode == config.PublishSticky, Inline: inlineOf(settings), InlineMost: settings.CommentsPerPull, Calibration: worth, Fix: fix, FixOff: fixOff, Context: about, Gate: o.gate(settings),
		Asked: o.Asked, Stops: r.stops, Disputes: disputes, BaseRef: sanitize.Mask(pr.BaseRef), Secrets: r.opts.Machine.secrets(),
	}, nil
}

// ruleOf is the rule of the settings as a request has it.
func ruleOf(s config.Settings) string {
	if s.Rule == orchestrator.RuleVerified {
		return orchestrator.RuleVerified
	}
	return ""
}

// inlineOf says which findings are comments on lines, as a request has it.
func inlineOf(s config.Settings) string {
	switch s.Inline {
	case config.InlineAll:
		return orchestrator.InlineAll
	case config.InlineProminent:
		return orchestrator.InlineProminent
	}
	return ""
}

// gatePlan is what the commit status is set by; nil when none is.
func gatePlan(s config.Settings) *gate.Plan {
	if s.Gate == gate.Off {
		return nil
	}
	return &gate.Plan{Policy: s.Gate, Labels: gate.Named(s.GateLabels)}
}

// isSensitive reports whether the repository handles personal or financial data, as its own description at the base commit says
// (spec.md D3.1).
func isSensitive(ctx context.Context, h *history, base string) (bool, error) {
	for _, name := range score.Described {
		text, err := h.ReadFile(ctx, base, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("read %s at the base commit: %w", name, err)
		}
		if _, yes := score.Sensitive(string(text)); yes {
			return true, nil
		}
	}
	return false, nil
}

// Rules are the repository's rules for an order about a pull request, and what the run would say of them.
func (s *Service) Rules(ctx context.Context, o Order) (Rules, error) {
	client, err := s.GitHubFor(ctx, o.Target.Repo)
	if err != nil {
		return Rules{}, err
	}
	pr, err := client.PullRequest(ctx, o.Target.Repo, o.Target.PR)
	if err != nil {
		return Rules{}, err
	}
	r := &run{Service: s}
	defer r.cleanup.run()
	w, err := r.pin(ctx, o, pr)
	return w.rules, err
}
