package cli

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/crew"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// loop puts the parts of a run together. emit receives its events.
// lease is the run's hold on its pull request, if it needs one.
func (s *session) loop(ctx context.Context, req orchestrator.Request, settings config.Settings, h *history, lease *store.Lease, emit func(review.Event)) (*orchestrator.Loop, error) {
	target, agents := req.Target, req.Agents
	if req.Fix != nil {
		agents = append(slices.Clone(agents), req.Fix.Agent)
	}
	key, err := s.store.MarkerKey(ctx, func() []byte {
		k := make([]byte, 32)
		_, _ = rand.Read(k) // never fails
		return k
	})
	if err != nil {
		return nil, err
	}
	if err := s.watch(req); err != nil {
		return nil, err
	}
	emit = s.telemetry.news(emit)
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, which plays the builtin agents: %w", err)
	}
	scratch, err := s.scratch()
	if err != nil {
		return nil, err
	}
	walls, err := s.p.walls(ctx, target)
	if err != nil {
		return nil, err
	}
	limits, err := s.p.limits()
	if err == nil {
		err = limits.Room(scratch)
	}
	if err != nil {
		return nil, err
	}
	if err := proc.Shield(); err != nil { // after the walls, which may have had to look at the machine
		return nil, err
	}
	ask := &crew.Crew{
		Repo: h.repo, Exclude: req.Context.Exclude, FetchHosts: settings.FetchHosts, Self: self, Scratch: scratch, Checkout: req.Checkout,
		Walls: walls, Limits: limits, ShowSecrets: req.Secrets == orchestrator.ShowSecrets, State: s.state, Fence: fenceOf(key)(req.Run),
	}
	known := s.secrets(settings, target)
	ask.Secrets, s.policy = known, sanitize.Policy{Repo: target.Repo, Known: known}
	s.cassette.Words, s.cassette.Known = ask.Words, known
	s.tab.run = req.Run
	if needsModel(agents) {
		ask.Models = runModels(settings, agents)
		if ask.Gateway, err = s.openGateway(ctx, settings, req, !walls.On() && hasACP(agents), emit); err != nil {
			return nil, err
		}
	}
	l := &orchestrator.Loop{
		History: h, Briefer: &briefer{repo: h.repo, early: s.early, local: target.Local()}, Agents: ask, Record: s.telemetry.record(s.tab.watch(ask.Gateway, recorder{s.store, s.folder})), Emit: emit,
		MarkerKey: key, Fence: fenceOf(key), Now: time.Now, Sleep: sleep,
		Nonce: func() string { return hex.EncodeToString(randomBytes(16)) }, Permanent: s.permanent(ctx, req.Run), Incident: s.incident,
		Secrets: known,
	}
	if !target.Local() {
		l.Forge, l.Poster = sweeper{Forge: s.github, store: s.store, key: key, emit: emit}, s.github
		if l.Bench, err = s.newBench(ask, settings, req.Fix, lease); err != nil {
			return nil, err
		}
	}
	l.Outbox = outbox{store: s.store, lease: lease, policy: s.policy}
	return l, nil
}

// secrets are the credentials this process holds.
func (s *session) secrets(settings config.Settings, target review.Target) []string {
	all := append(modelSecrets(settings), s.telemetry.secrets()...)
	if !target.Local() {
		all = append(all, s.github.Secrets()...)
	}
	return slices.DeleteFunc(all, func(secret string) bool { return len(secret) < 16 }) // they would match ordinary text (threats.md "Secrets")
}

// gatewayFolderLimit is how long the scratch folder's path may be, in bytes, for the gateway's socket to stand below it: the
// kernel takes 107. With a longer one it stands in the system's folder for such things, where a kill leaves it.
const gatewayFolderLimit = 70

// openGateway starts the gateway and asks the endpoint once, so that a wrong key or address ends the run before it begins.
// With several endpoints one may be down: that is what the others are for.
func (s *session) openGateway(ctx context.Context, settings config.Settings, req orchestrator.Request, tcp bool, emit func(review.Event)) (*gateway.Gateway, error) {
	if !settings.ModelConfigured() {
		return nil, usage("set OPENAI_API_KEY, or use --reviewers static", "a builtin reviewer needs a model, and none is configured")
	}
	o := s.gatewayOptions(settings, req.Target, func(agent, message string) {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Agent: agent, Message: message, Time: time.Now()})
	})
	if s.store != nil { // doctor asks the endpoint without a run
		if err := s.countOn(ctx, &o); err != nil {
			return nil, err
		}
	}
	o.TCP = tcp
	o.Mask = func(text string) string {
		if req.Secrets != orchestrator.ShowSecrets {
			text = sanitize.Mask(text)
		}
		return sanitize.MaskKnown(text, s.policy)
	}
	o.Cassette, o.Observe = s.cassette, s.telemetry.observer()
	if len(s.private) > 0 && len(s.private) <= gatewayFolderLimit {
		o.Dir = s.private
	}
	g, err := gateway.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	s.onClose(func() { s.p.closeGateway(g) })
	if err := g.Check(ctx); err != nil {
		if len(o.Upstreams) == 1 {
			return nil, err
		}
		s.log.Warn("a model endpoint does not answer", "err", err)
	}
	return g, nil
}

// countOn makes the gateway go on from what earlier processes of the run spent, and keep what it spends.
func (s *session) countOn(ctx context.Context, o *gateway.Options) error {
	earlier, err := s.store.Spending(ctx, s.tab.run)
	if err != nil {
		return err
	}
	o.Spent = gateway.Totals{LLMCalls: earlier.LLMCalls, ToolCalls: earlier.ToolCalls, Tokens: earlier.Tokens, CostUSD: earlier.CostUSD}
	o.Keep = func(t gateway.Totals) error { // a call that ends when the run is stopped is counted too
		return s.store.SaveSpending(context.WithoutCancel(ctx), s.tab.run, store.Spending{LLMCalls: t.LLMCalls, ToolCalls: t.ToolCalls, Tokens: t.Tokens, CostUSD: t.CostUSD})
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
