package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
)

// Evaluator has review cases reviewed as runs of a service of its own.
type Evaluator struct {
	service *Service
	layers  config.Input
	// preparing lets one run at a time be prepared: two of one millisecond would have one name.
	preparing sync.Mutex
	program   func() (string, error)
}

// OpenEvaluator opens a service for review cases, whose state is nobody else's and goes when it is closed. layers are the operator's.
func OpenEvaluator(ctx context.Context, o Options, layers config.Input) (*Evaluator, error) {
	o.Machine.Strangers = true
	if err := os.MkdirAll(o.State, 0o700); err != nil {
		return nil, err
	}
	s, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Evaluator{service: s, layers: layers, program: sync.OnceValues(func() (string, error) { return sumOfFile(s.opts.Self) })}, nil
}

// Close ends the reviews under way and removes the state.
func (e *Evaluator) Close(ctx context.Context) error {
	e.service.Close(ctx)
	return os.RemoveAll(e.service.State())
}

// Work is the folder of the state.
func (e *Evaluator) Work() string { return e.service.State() }

// order is the order of a review, its commits aside.
func (e *Evaluator) order(a running.Agent, replayed bool) Order {
	o := Order{Target: review.Target{Base: "HEAD"}, Layers: e.layers, DryRun: true, Case: &Case{Rules: Rules{File: a.File, Top: a.Dir, From: "the evaluation's agent " + a.Name}}}
	if replayed {
		o.Cassette.Mode = gateway.Replay
	}
	return o
}

// Settle resolves an agent's settings.
func (e *Evaluator) Settle(a running.Agent, replayed bool) (running.Settled, error) {
	o := e.order(a, replayed)
	var out running.Settled
	settings, err := o.Settings(o.Case.Rules)
	if err != nil {
		return out, err
	}
	agents := plan(settings, o.Target, a.Dir)
	for _, p := range agents {
		out.Reviewers = append(out.Reviewers, p.Name)
		out.MostUSD += mostUSD(p, settings.Limits)
	}
	if v := planVerifier(settings, a.Dir); v != nil {
		agents = append(agents, v.Agent)
		out.MostUSD += mostUSD(v.Agent, v.Limits)
	}
	if most := settings.RunLimits.CostUSD; most > 0 {
		out.MostUSD = min(out.MostUSD, most)
	}
	if err := startable(agents...); err != nil {
		return out, err
	}
	if needsModel(agents) && !settings.ModelConfigured() {
		return out, ErrNoModel
	}
	if mayAskModel(agents) && settings.ModelConfigured() {
		out.Models = runModels(settings, agents)
	}
	out.Prompts = map[string]string{"version": prompts.Version}
	for name, sum := range prompts.Sums() {
		out.Prompts[name] = sum
	}
	if out.Settings, err = sumOfSettings(settings); err != nil {
		return out, err
	}
	out.Program, err = e.program()
	return out, err
}

// mostUSD is the most that an agent may cost; one that is not asked through prloop's gateway cannot be bounded.
func mostUSD(p orchestrator.AgentPlan, l review.Limits) float64 {
	if !mayAskModel([]orchestrator.AgentPlan{p}) {
		return 0
	}
	if p.Limits != nil {
		l = *p.Limits
	}
	return l.CostUSD
}

// sumOfSettings is the SHA-256 of what settings say about reviews: where models are, and the keys, aside.
func sumOfSettings(s config.Settings) (string, error) {
	s.BaseURL, s.APIKey, s.Upstreams, s.WebSearch.Key, s.Budgets = "", config.Secret{}, nil, config.Secret{}, config.Budgets{}
	data, err := json.Marshal(s)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// Review reviews one case.
func (e *Evaluator) Review(ctx context.Context, o running.Order) (running.Reviewed, error) {
	var out running.Reviewed
	order := e.order(o.Agent, false)
	order.Target.Base, order.Dir, order.Cassette = o.Base, o.Dir, o.Cassette
	order.Case.Title, order.Case.Body = o.Title, o.Body
	p, err := e.prepare(ctx, order)
	if err != nil {
		return out, err
	}
	if p.Request.Head != o.Head {
		p.Close()
		return out, fmt.Errorf("its working tree is not its head %s but %s: a name or a line end does not stay as it is here", o.Head, p.Request.Head)
	}
	ended, err := e.service.Start(ctx, p, func(review.Event) {})
	if err != nil {
		return out, err
	}
	out.Result = ended.Result
	data, err := e.service.File(p.Request.Run, fmt.Sprintf("round-%d/inputs.json", ended.Result.Round))
	if errors.Is(err, os.ErrNotExist) { // it ended before anything was judged
		return out, nil
	}
	var in orchestrator.Inputs
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err != nil {
		return out, fmt.Errorf("read what run %s was judged by: %w", p.Request.Run, err)
	}
	out.Stages = orchestrator.Stages(in)
	return out, nil
}

func (e *Evaluator) prepare(ctx context.Context, o Order) (*Prepared, error) {
	e.preparing.Lock()
	defer e.preparing.Unlock()
	time.Sleep(2 * time.Millisecond) // names of runs tell milliseconds
	return e.service.Prepare(ctx, o)
}

func sumOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
