package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/prloop/prloop/internal/eval/judging"
	"github.com/prloop/prloop/internal/eval/running"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/prompts"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// judgeName is the agent's name in recordings.
const judgeName = "expectation-judge"

// judge asks a model through a gateway of its own.
type judge struct {
	gateway *gateway.Gateway
	options modelagent.Options
	limits  review.Limits
}

// Judge gives a judge with an agent's model, whose limits hold for each request. end closes the gateway and writes the recording.
func (e *Evaluator) Judge(ctx context.Context, a running.Agent, c gateway.Cassette) (j judging.Judge, end func() error, err error) {
	o := e.order(a, c.Mode == gateway.Replay)
	settings, err := o.Settings(o.Case.Rules)
	if err != nil {
		return nil, nil, err
	}
	if c.Mode != gateway.Replay && !settings.ModelConfigured() {
		return nil, nil, ErrNoModel
	}
	options := gatewayOptions(e.service.log, settings)
	options.Mask, options.Cassette = sanitize.Mask, c
	options.Cassette.Known = modelSecrets(settings)
	g, err := gateway.Start(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	limits := settings.Limits
	limits.LLMCalls, limits.ToolCalls = 2, 0
	return &judge{gateway: g, limits: limits, options: modelagent.Options{Socket: g.Socket(), Model: settings.Model, Effort: settings.ReasoningEffort}}, g.Close, nil
}

// Same asks. The word around the texts is made of them: equal questions are asked alike, and no text holds a hash of itself.
func (j *judge) Same(ctx context.Context, questions []judging.Question) (map[string]bool, error) {
	o := j.options
	o.Token = j.gateway.Issue(judgeName, j.limits, o.Model)
	defer j.gateway.Release(judgeName)
	var list []prompts.Compared
	h := sha256.New()
	for _, q := range questions {
		fmt.Fprintf(h, "%#v", q)
		list = append(list, prompts.Compared{ID: q.ID, First: prompts.ComparedText(q.First), Second: prompts.ComparedText(q.Second)})
	}
	o.Fence = hex.EncodeToString(h.Sum(nil))[:24]
	got, err := modelagent.Same(ctx, list, o, j.limits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", judging.ErrAnswer, err)
	}
	return got, nil
}
