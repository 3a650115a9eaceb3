package cli

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/artifacts"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/repocontext"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// session is what one command has open. Parts are opened when they are needed and closed together.
type session struct {
	p      *Proc
	log    hclog.Logger
	state  string
	store  *store.Store
	folder *artifacts.Folder
	git    *git.Git
	github *github.Client
	closes []func()
	// private is the folder scratch made.
	private string
	// cassette is settled before the loop is built.
	cassette gateway.Cassette
	// telemetry is nil unless the operator wants it.
	telemetry *telemetry
}

// openSession opens the record of runs.
func (p *Proc) openSession(ctx context.Context) (*session, error) {
	state, err := p.stateFolder()
	if err != nil {
		return nil, err
	}
	s := &session{p: p, state: state, log: p.logger()}
	if s.store, err = store.Open(ctx, store.Options{Path: s.database()}); err != nil {
		return nil, err
	}
	s.onClose(func() { s.store.Close() })
	if s.folder, err = artifacts.Open(filepath.Join(state, "runs")); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) database() string  { return filepath.Join(s.state, "prloop.db") }
func (s *session) onClose(fn func()) { s.closes = append(s.closes, fn) }

func (s *session) close() {
	for i := len(s.closes) - 1; i >= 0; i-- {
		s.closes[i]()
	}
}

// logger writes to standard error what PRLOOP_LOG asks for (error, warn, info, debug); warnings without it.
func (p *Proc) logger() hclog.Logger {
	level := hclog.LevelFromString(p.env("PRLOOP_LOG"))
	if level == hclog.NoLevel {
		level = hclog.Error
	}
	return hclog.New(&hclog.LoggerOptions{Name: "prloop", Level: level, Output: redacting{p.Stderr}})
}

// redacting is the sink of the log: nothing secret and no control byte passes it (security P14, T41).
type redacting struct {
	to interface{ Write([]byte) (int, error) }
}

func (r redacting) Write(line []byte) (int, error) {
	if _, err := r.to.Write([]byte(sanitize.Terminal(sanitize.Redact(string(line))))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// openGitHub connects to the host of a repository.
func (s *session) openGitHub(ctx context.Context, host string) (*github.Client, error) {
	if s.github != nil && s.github.Host() == host {
		return s.github, nil
	}
	temp, err := s.scratch()
	if err != nil {
		return nil, err
	}
	c, err := github.New(ctx, github.Options{Host: host, Env: s.p.Env, GH: s.p.env("PRLOOP_GH"), Temp: temp, Log: s.log.Named("github")})
	if err != nil {
		return nil, err
	}
	s.github = c
	return c, nil
}

// openHistory opens prloop's own repository of a target.
func (s *session) openHistory(ctx context.Context, target review.Target, checkout string) (*history, error) {
	h := &history{}
	name := filepath.Join("local", fingerprint(checkout))
	opts := git.Options{}
	if !target.Local() {
		clone := s.github.Clone(target.Repo)
		h.fetch = git.FetchOptions{URL: clone.URL, Helper: clone.Helper, Env: clone.Env}
		name = filepath.Join(target.Repo.Host, target.Repo.Owner, target.Repo.Name)
		if s.p.env("PRLOOP_GIT_URL") != "" {
			opts.Protocols = []string{"https", "http"} // the operator named the address
		}
	}
	g, err := git.Find(ctx, opts)
	if err != nil {
		return nil, err
	}
	s.git = g
	h.repo, err = g.Open(ctx, filepath.Join(s.state, "repos", name+".git"), git.OpenOptions{})
	return h, err
}

func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// briefer lends the loop the context builder on prloop's own repository.
type briefer struct{ repo *git.Repository }

func (b briefer) Brief(ctx context.Context, r orchestrator.Range, o orchestrator.ContextOptions, limits review.Limits) (review.Brief, error) {
	d, err := b.repo.Diff(ctx, r.MergeBase, r.Head, git.DiffOptions{})
	if err != nil {
		return review.Brief{}, err
	}
	return repocontext.Build(ctx, b.repo, repocontext.Options{
		Diff: d, Base: r.Base, Head: r.Head, MaxTokens: limits.ContextTokens, Include: o.Include, Exclude: o.Exclude, Guidance: o.Guidance,
	})
}

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
	if err := proc.Shield(); err != nil { // after the walls, which may have had to look at the machine
		return nil, err
	}
	ask := &asker{history: h, exclude: excluded(settings), web: settings.FetchHosts, self: self, scratch: scratch, checkout: req.Checkout, walls: walls, state: s.state}
	ask.words = &runWords{list: []string{fenceOf(key)(req.Run)}}
	s.cassette.Words = ask.words.all
	secrets := append(modelSecrets(settings), s.telemetry.secrets()...)
	if needsModel(agents) {
		if ask.gateway, err = s.openGateway(ctx, settings, target, !walls.on && hasACP(agents), emit); err != nil {
			return nil, err
		}
	}
	l := &orchestrator.Loop{
		History: h, Briefer: briefer{h.repo}, Agents: ask, Record: s.telemetry.record(recorder{s.store, s.folder}), Emit: emit,
		MarkerKey: key, Fence: fenceOf(key), Now: time.Now, Sleep: sleep,
		Nonce: func() string { return hex.EncodeToString(randomBytes(16)) },
	}
	if !target.Local() {
		secrets = append(secrets, s.github.Secrets()...)
		l.Forge, l.Poster = s.github, s.github
		l.Bench = s.newBench(ask, settings, lease)
	}
	for _, secret := range secrets {
		if len(secret) >= 16 { // shorter ones would match ordinary text (security 7.4)
			l.Secrets = append(l.Secrets, secret)
		}
	}
	l.Outbox = outbox{store: s.store, lease: lease, policy: sanitize.Policy{Repo: target.Repo, Known: l.Secrets}}
	return l, nil
}

// gatewayFolderLimit is how long the scratch folder's path may be, in bytes, for the gateway's socket to stand below it: the
// kernel takes 107. With a longer one it stands in the system's folder for such things, where a kill leaves it.
const gatewayFolderLimit = 70

// openGateway starts the gateway and asks the endpoint once, so that a wrong key or address ends the run before it begins.
// With several endpoints one may be down: that is what the others are for.
func (s *session) openGateway(ctx context.Context, settings config.Settings, target review.Target, tcp bool, emit func(review.Event)) (*gateway.Gateway, error) {
	if !settings.ModelConfigured() {
		return nil, usage("set OPENAI_API_KEY, or use --reviewers static", "a builtin reviewer needs a model, and none is configured")
	}
	o := s.gatewayOptions(settings, target, func(agent, message string) {
		emit(review.Event{Kind: review.EventLog, Level: "warn", Agent: agent, Message: message, Time: time.Now()})
	})
	o.TCP = tcp
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

// execute runs a request durably: new when input is given, otherwise continued from what is stored.
func (s *session) execute(ctx context.Context, run string, req *orchestrator.Request, build func(context.Context, orchestrator.Request) (*orchestrator.Loop, error)) (review.RunResult, error) {
	var result review.RunResult
	e, err := engine.Open(ctx, engine.Options{Path: s.database(), Log: s.log.Named("engine"), Handler: func(ctx context.Context, steps *engine.Steps, input []byte) ([]byte, error) {
		var req orchestrator.Request
		if err := json.Unmarshal(input, &req); err != nil {
			return nil, fmt.Errorf("read the stored request: %w", err)
		}
		loop, err := build(ctx, req)
		if err != nil {
			return nil, engine.Halt(err)
		}
		result, err := loop.Run(ctx, durable{steps}, req)
		if err != nil {
			return nil, engine.Halt(err) // it could not go on here and now: that is no end of a run
		}
		return json.Marshal(result)
	}})
	if err != nil {
		return result, err
	}
	defer e.Close(context.WithoutCancel(ctx))
	var out []byte
	if req != nil {
		input, err := json.Marshal(req)
		if err != nil {
			return result, fmt.Errorf("encode the request: %w", err)
		}
		out, err = e.Run(ctx, run, input)
		if err != nil {
			return result, stopped(run, err)
		}
	} else {
		if out, err = e.Resume(ctx, run); errors.Is(err, engine.ErrNotFound) {
			out, err = s.beginLate(ctx, e, run, err)
		}
		if err != nil {
			return result, stopped(run, err)
		}
	}
	return result, json.Unmarshal(out, &result)
}

// requestName is the artifact that holds what a run was asked.
const requestName = "request.json"

// recordRun makes a run known before the engine has it: its request first, so that a run killed in between can still begin
// (security 6.1, K04).
func (s *session) recordRun(ctx context.Context, req orchestrator.Request) error {
	input, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	if err := s.folder.Save(req.Run, requestName, input); err != nil {
		return err
	}
	return s.store.CreateRun(ctx, store.Run{ID: req.Run, ReviewID: req.ReviewID, Target: req.Target, Head: req.Head, Artifacts: s.folder.Path(req.Run)})
}

// beginLate begins a run that was recorded and that the engine never had. One that has ended is not begun again: the engine
// forgets those after a while.
func (s *session) beginLate(ctx context.Context, e *engine.Engine, run string, unknown error) ([]byte, error) {
	known, err := s.store.Run(ctx, run)
	if err != nil || known.State == store.Finished {
		return nil, errors.Join(unknown, err)
	}
	input, err := s.folder.Load(run, requestName)
	if err != nil {
		return nil, errors.Join(unknown, err)
	}
	return e.Run(ctx, run, input)
}

// stopped names the command that continues a run.
func stopped(run string, err error) error {
	var u *engine.UnfinishedError
	if !errors.As(err, &u) {
		return err
	}
	h := explain(u.Cause)
	h.err = u.Cause
	resume := "prloop resume " + run
	if errors.Is(u.Cause, context.Canceled) {
		return hinted{err: fmt.Errorf("run %s was interrupted", run), next: resume, status: exitInterrupted}
	}
	if h.next != "" {
		resume = h.next + ", then: " + resume
	}
	return hinted{err: u.Cause, next: resume, status: h.status}
}
