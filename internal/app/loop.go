package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/canary"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/postgres"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// looping is a loop that is put together, to be done by steps.
type looping func(context.Context, durable) (review.RunResult, error)

// loopOf puts the parts of the run together. lease is its hold on the pull request or the job, if it needs one.
func (r *run) loopOf(ctx context.Context, st stored, lease *store.Lease) (looping, error) {
	if st.Job != nil {
		return r.jobLoop(ctx, st, lease)
	}
	loop, err := r.loop(ctx, st.Request, lease)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, steps durable) (review.RunResult, error) {
		return loop.Run(ctx, steps, st.Request)
	}, nil
}

// crew is what every loop works with.
type crew struct {
	key  []byte
	ask  *agentrun.Launcher
	emit func(review.Event)
	// known are the secrets this process holds.
	known []string
}

// hire puts together what starts the agents of the run.
func (r *run) hire(ctx context.Context, req orchestrator.Request) (c crew, err error) {
	if c.key, err = r.markerKey(ctx); err != nil {
		return c, err
	}
	r.watch(req)
	c.emit = r.telemetry.news(r.emit)
	if c.ask, err = r.launcher(ctx, req, c.key); err != nil {
		return c, err
	}
	c.known = r.secrets(req.Target)
	if r.client != nil {
		r.client.Guard(c.known...) // without the run's canary: all runs of a service share the client
	}
	c.ask.Canary = canary.Of(sanitize.Keys(c.key)[0], req.Run)
	c.known = append(c.known, c.ask.Canary)
	c.ask.Secrets, c.ask.Learned = c.known, &sanitize.Learned{}
	r.policy = sanitize.Policy{Repo: req.Target.Repo, PR: req.Target.PR, Known: c.known, Learned: c.ask.Learned}
	r.cassette.Words, r.cassette.Known = c.ask.Words, c.known
	r.spend.run = req.Run
	if agents := takingPart(req); needsModel(agents) || r.settings.ModelConfigured() && mayAskModel(agents) {
		c.ask.Models = runModels(r.settings, agents)
		if c.ask.Gateway, err = r.openGateway(ctx, req, !c.ask.Confinement.On() && hasACP(agents), c.emit); err != nil {
			return c, err
		}
	}
	return c, nil
}

// loop puts the parts of a review together.
func (r *run) loop(ctx context.Context, req orchestrator.Request, lease *store.Lease) (*orchestrator.Loop, error) {
	c, err := r.hire(ctx, req)
	if err != nil {
		return nil, err
	}
	ask, key, emit, known := c.ask, c.key, c.emit, c.known
	l := &orchestrator.Loop{
		History: r.history, Dismissals: dismisser{r.history, r.client}, Briefer: &briefer{repo: r.history.repo, early: r.early, own: r.opts.Machine.ownRules(req.Target)}, Shelves: shelves{r.history.repo, ask.Learned}, Agents: ask,
		Record: r.measured(r.telemetry.record(r.spend.watch(ask.Gateway, recorder{r.store, r.folder, lease}))), Emit: emit,
		MarkerKey: key, Fence: fenceOf(key), Now: wallclock.Now, Sleep: sleep,
		Nonce: func() string { return hex.EncodeToString(randomBytes(16)) }, Permanent: r.permanent(ctx), Incident: r.incident,
		Secrets: known, Learned: ask.Learned,
	}
	if !req.Target.Local() {
		var forge orchestrator.Forge = duplicateAlarm{Forge: r.client, store: r.store, key: key, emit: emit}
		if req.Stops != nil || r.newer != "" {
			s := &stoppable{Forge: forge, service: r.Service, client: r.client, target: req.Target, said: r.newer}
			if req.Stops != nil {
				s.stops = *req.Stops
			}
			forge, l.Watch, r.stoppable = s, s.Watch, s
		}
		l.Forge, l.Poster, l.Minimizer, l.Editor = forge, r.client, r.client, r.client
		l.Reviewer, l.Replier, l.Resolver = r.client, r.client, r.client
		l.Executor, l.Stored, l.Unfinished, l.Recorded = r.newExecutor(ask, req, lease), r.earlier, r.unfinished, r.recorded
		l.Gate, l.People, l.Requester = gatesRuns{gatekeeper{r.client}, r.Service, req.Target.Repo.Key(r.repoID)}, gatekeeper{r.client}, r.client
	}
	l.Outbox, l.Newer = outbox{r.store, lease}, r.newer
	return l, nil
}

// markerKey is the key by which comments of ours are known: the operator's, which several machines may share, or that of the state folder.
func (s *Service) markerKey(ctx context.Context) ([]byte, error) {
	if key := s.opts.Machine.MarkerKey; key != nil {
		return key, nil
	}
	return s.store.MarkerKey(ctx, func() []byte { return randomBytes(32) })
}

// NewKey reports whether comments are signed with a key that was made just now, as neither the operator nor the state folder had one: nobody
// knows what it signs once that folder is gone.
func (s *Service) NewKey(ctx context.Context) (fresh bool, err error) {
	if s.opts.Machine.MarkerKey != nil {
		return false, nil
	}
	_, err = s.store.MarkerKey(ctx, func() []byte {
		fresh = true
		return randomBytes(32)
	})
	return fresh, err
}

// secrets are the credentials this process holds for the run.
func (r *run) secrets(target review.Target) []string {
	all := append(modelSecrets(r.settings), r.telemetry.secrets()...)
	all = append(all, r.folder.secrets()...)
	if !target.Local() {
		all = append(all, r.client.Secrets()...)
	}
	if key := r.opts.Machine.MarkerKey; key != nil {
		for _, one := range sanitize.Keys(key) {
			all = append(all, hex.EncodeToString(one))
		}
	}
	if a, err := postgres.Parse(r.opts.Database); err == nil && r.opts.Database != "" {
		all = append(all, a.Password())
	}
	return slices.DeleteFunc(all, func(secret string) bool { return len(secret) < 16 }) // they would match ordinary text, and guesses of an author (threats.md "Secrets")
}

// launcher puts together what starts the agents of the run, and shields this process from them.
func (r *run) launcher(ctx context.Context, req orchestrator.Request, key []byte) (*agentrun.Launcher, error) {
	scratch, err := r.scratch(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.takeFolders(ctx, scratch); err != nil {
		return nil, err
	}
	confinement, err := r.opts.Machine.confinement(ctx, req.Target)
	if err != nil {
		return nil, err
	}
	if err := r.room(ctx, scratch, r.id); err != nil {
		return nil, err
	}
	if err := proc.Shield(); err != nil { // after the sandbox, which may have had to look at the machine
		return nil, err
	}
	checkout := req.Checkout
	if !r.opts.Machine.own(req.Target) || len(req.Context.NeverRead) > 0 {
		checkout = "" // nobody's to run, or with files that nothing may read
	}
	return &agentrun.Launcher{
		Repo: r.history.repo, Exclude: req.Context.Exclude, Withholds: len(req.Context.NeverRead) > 0, FetchHosts: r.settings.FetchHosts, Search: r.settings.WebSearch.Provider != "", Self: r.opts.Self, Scratch: scratch, Checkout: checkout,
		Confinement: confinement, Limits: r.opts.Machine.Limits, ShowSecrets: req.Secrets == orchestrator.ShowSecrets, State: r.opts.State, Fence: fenceOf(key)(req.Run), Folders: r.folders,
	}, nil
}

// gatewayFolderLimit is how long the scratch folder's path may be, in bytes, for the gateway's socket to stand below it: the
// kernel takes 107. With a longer one it stands in the system's folder for such things, where a kill leaves it.
const gatewayFolderLimit = 70

// ErrNoModel: an agent needs a model, and no endpoint is configured.
var ErrNoModel = errors.New("a builtin reviewer needs a model, and none is configured")

// openGateway starts the gateway and asks the endpoint once, so that a wrong key, address or model ends the run before it begins.
func (r *run) openGateway(ctx context.Context, req orchestrator.Request, tcp bool, emit func(review.Event)) (*gateway.Gateway, error) {
	if !r.settings.ModelConfigured() {
		return nil, ErrNoModel
	}
	warn := func(agent, message string) {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Agent: agent, Message: message, Time: time.Now()})
	}
	o := gatewayOptions(r.log, r.settings)
	o.Note, o.TCP, o.Caps = warn, tcp, r.caps(req.Target)
	if err := r.countOn(ctx, &o); err != nil {
		return nil, err
	}
	if req.Secrets != orchestrator.ShowSecrets {
		o.Mask, o.MaskLearned = sanitize.Mask, r.policy.Learned.Mask
	}
	o.MaskKnown = func(text string) string { return sanitize.MaskKnown(text, r.policy) }
	o.Cassette, o.Observe = r.cassette, r.callObserver()
	if len(r.private) > 0 && len(r.private) <= gatewayFolderLimit {
		o.Dir = r.private
	}
	g, err := gateway.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	r.cleanup.add(func() {
		if err := g.Close(); err != nil { // what was recorded is written now; a person must learn that it was not
			warn("", "close the model gateway: "+err.Error())
		}
	})
	agents := takingPart(req)
	if !needsModel(agents) { // a command may never ask
		return g, nil
	}
	var models []string
	for _, a := range agents {
		models = append(models, a.Model)
	}
	return g, answers(ctx, g, r.log, len(o.Upstreams), models)
}

// answers asks every model endpoint for what it serves, and whether that is what is to be asked for. With several endpoints one may
// be down, or refuse its key: that is what the others are for.
func answers(ctx context.Context, g *gateway.Gateway, log hclog.Logger, endpoints int, models []string) error {
	if err := g.Check(ctx); err != nil {
		if endpoints == 1 {
			return err
		}
		log.Warn("a model endpoint does not answer", "err", err)
	}
	slices.Sort(models)
	for _, m := range slices.Compact(models) {
		if m == "" {
			continue
		}
		err := g.Serves(ctx, m)
		var e *gateway.EndpointError
		if endpoints > 1 && errors.As(err, &e) && e.Trouble == gateway.TroubleKey {
			log.Warn("a model endpoint does not answer", "err", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckModel asks the model endpoints of settings once, without a run.
func CheckModel(ctx context.Context, log hclog.Logger, settings config.Settings) error {
	o := gatewayOptions(log, settings)
	g, err := gateway.Start(ctx, o)
	if err != nil {
		return err
	}
	err = answers(ctx, g, log, len(o.Upstreams), []string{settings.Model})
	return errors.Join(err, g.Close())
}

// countOn makes the gateway go on from what earlier processes of the run spent, and keep what it spends.
func (r *run) countOn(ctx context.Context, o *gateway.Options) error {
	earlier, err := r.store.Spending(ctx, r.id)
	if err != nil {
		return err
	}
	o.Spent = gateway.Totals{LLMCalls: earlier.LLMCalls, ToolCalls: earlier.ToolCalls, Tokens: earlier.Tokens, CostUSD: earlier.CostUSD}
	o.Keep = func(t gateway.Totals) error { // a call that ends when the run is stopped is counted too
		return r.store.SaveSpending(context.WithoutCancel(ctx), r.id, store.Spending{LLMCalls: t.LLMCalls, ToolCalls: t.ToolCalls, Tokens: t.Tokens, CostUSD: t.CostUSD})
	}
	return nil
}

// endpointName is what errors call a model endpoint: its host.
func endpointName(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		return u.Host
	}
	return base
}

// fenceOf derives the word around untrusted text from the key and the run: the same for all reviewers of a run, so that
// prompt caches hit, and not to be guessed by whoever wrote the text.
func fenceOf(key []byte) func(run string) string {
	return func(run string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("fence:" + run))
		return hex.EncodeToString(mac.Sum(nil))[:24]
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
