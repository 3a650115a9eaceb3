package app

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/folders"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A run is one run in this process: what it works with, from when it is prepared or resumed until this process is done with it.
type run struct {
	*Service
	id      string
	cleanup cleanup
	// cancel ends the run's context with a reason.
	cancel context.CancelCauseFunc
	emit   func(review.Event)
	// build makes the loop when the engine asks for it.
	build func(context.Context, stored) (looping, error)

	settings config.Settings
	cassette gateway.Cassette
	history  *history
	// client is GitHub's, nil for a local range; requests counts what the run makes of it in this process.
	client   *github.Client
	requests *github.Tally
	// newer says which run has taken the place of this one while it was interrupted; empty when none has.
	newer string
	// repoID is GitHub's number of the repository; 0 for a local range.
	repoID int64
	// author is who opened the pull request that was ordered.
	author review.Person
	// lease is the run's hold on its pull request; nil when it needs none.
	lease *store.Lease
	// stops are the comments that can stop the run; nil for a local range.
	stops *orchestrator.Stops
	// stoppable looks for them; nil before the loop is built.
	stoppable *stoppable
	// early is the brief of the first round, under way before the loop is built; nil when nobody began it.
	early *earlyBrief
	// private is the folder scratch made.
	private string
	// folders are those beside the tree, copied.
	folders []folders.Folder
	// spend keeps this run's spending apart from that of others.
	spend spendLedger
	// policy is what the run's posts, annotations and step summary may hold; set when the loop is built.
	policy sanitize.Policy
	// telemetry is nil unless the operator wants it.
	telemetry *telemetry
	// permanently is the error this process ended the run with; nil when it did not.
	permanently atomic.Pointer[error]
}

// meet connects the run to GitHub.
func (r *run) meet(ctx context.Context, repo review.Repo) error {
	shared, err := r.GitHubFor(ctx, repo)
	if err != nil {
		return err
	}
	r.client, r.requests = shared.Counted()
	return nil
}

// counted tells how often GitHub was asked.
func (r *run) counted() {
	if r.requests != nil && r.emit != nil {
		r.emit(review.Event{Kind: review.EventLog, Level: "info", Message: r.requests.String()})
	}
}

// Ended is how a run ended.
type Ended struct {
	Result review.RunResult
	// Cause is the error that failed the run in this process; nil when none did.
	Cause error
	// Policy is what may be shown of the run outside the terminal; zero when it had ended before.
	Policy sanitize.Policy
}

// Start does a prepared run, and closes it. Progress goes to emit, from several goroutines. A run that stops before its end can be
// resumed: the error is an *engine.UnfinishedError then.
func (s *Service) Start(ctx context.Context, p *Prepared, emit func(review.Event)) (Ended, error) {
	r := p.run
	defer p.Close()
	ctx, leave, err := r.enter(ctx, emit)
	if err != nil {
		return Ended{}, err
	}
	defer leave()
	announce(r.emit, p.Request)
	if !p.Request.Target.Local() && !p.Request.DryRun {
		r.repairStatuses(ctx, r.id)
	}
	lease, err := r.hold(ctx, p.Request)
	if err != nil {
		return Ended{}, err
	}
	loop, err := r.loopOf(ctx, stored{Request: p.Request, Job: p.job}, lease) // a wrong key ends it here, before there is a run
	if err != nil {
		return Ended{}, err
	}
	st := s.opts.Machine.store(p.Request, r.settings, r.cassette, r.folders...)
	st.Job, st.RepoID, st.Author = p.job, r.repoID, r.author
	if err := s.seal(&st); err != nil {
		return Ended{}, err
	}
	if err := s.record(ctx, st); err != nil {
		return Ended{}, err
	}
	r.build = func(context.Context, stored) (looping, error) { return loop, nil }
	return r.execute(ctx, &st)
}

// Resume goes on with a run that stopped before its end, with the settings it was started with; of today's layers the keys are
// taken, and what records or replays. A run that has ended gives its result again. Errors are as for Start.
func (s *Service) Resume(ctx context.Context, id string, today Today, emit func(review.Event)) (Ended, error) {
	s.warm()
	r := &run{Service: s, id: id}
	defer r.cleanup.run()
	ctx, leave, err := r.enter(ctx, emit)
	if err != nil {
		return Ended{}, err
	}
	defer leave()
	known, err := s.store.Run(ctx, id)
	if err != nil {
		return Ended{}, err
	}
	if err := s.sweepScratch(ctx); err != nil { // what the killed run left goes, even if there is nothing more to do (threats.md K28)
		return Ended{}, err
	}
	if known.Result != nil && !known.Target.Local() {
		if err := s.store.GiveBack(ctx, leased(known.Target, known.Result.Command), id); err != nil {
			return Ended{}, err
		}
	}
	r.build = func(ctx context.Context, st stored) (looping, error) {
		announce(r.emit, st.Request)
		return r.rebuild(ctx, st, today)
	}
	return r.execute(ctx, nil)
}

// Watch has somebody hear of the runs of this process that begin from now on: of the events of each, and when no process is at work on
// it any more.
func (s *Service) Watch(watch func(run string) (hear func(review.Event), over func())) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observer = watch
}

// running reports whether a run is under way in this process.
func (s *Service) running(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id] != nil
}

// enter makes the run one of those under way in this process, until leave is called.
func (r *run) enter(ctx context.Context, emit func(review.Event)) (in context.Context, leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[r.id] != nil {
		return ctx, nil, fmt.Errorf("run %s: %w", r.id, engine.ErrBusy)
	}
	r.live[r.id], r.emit = r, emit
	over := func() {}
	if r.observer != nil {
		var hear func(review.Event)
		hear, over = r.observer(r.id)
		r.emit = func(e review.Event) {
			hear(e)
			emit(e)
		}
	}
	in, r.cancel = context.WithCancelCause(ctx)
	began, meter := time.Now(), r.meter
	return in, func() {
		r.cancel(nil)
		if meter != nil {
			meter.Worked(time.Since(began))
		}
		defer over()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.live, r.id)
	}, nil
}

// announce names the agents, so that whoever shows progress knows all of them from the start. Whether a judge is asked shows later.
func announce(emit func(review.Event), req orchestrator.Request) {
	emit(review.Event{Kind: review.EventProgress, Message: req.Target.String()})
	req.Disputes = nil
	if req.Quick != nil { // who reviews in full is announced once a full review follows
		req.Agents, req.Verify, req.Fix = nil, nil, nil
		if req.Find != nil && !req.Find.Quick {
			req.Find = nil
		}
	}
	for _, a := range takingPart(req) {
		emit(review.Event{Kind: review.EventState, Agent: a.Name, State: review.AgentWaiting})
	}
}

// takingPart are all agents of a request, verifier, judges and fixer included.
func takingPart(req orchestrator.Request) []orchestrator.AgentPlan {
	all := slices.Clone(req.Agents)
	if req.Quick != nil {
		all = append(all, req.Quick.Scout)
	}
	if req.Find != nil {
		all = append(all, req.Find.Plans()...)
	}
	if req.Verify != nil {
		all = append(all, req.Verify.Agent)
	}
	if req.Disputes != nil {
		all = append(all, req.Disputes.Judges...)
	}
	if req.Fix != nil {
		all = append(all, req.Fix.Agent)
	}
	return all
}
