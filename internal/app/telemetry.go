package app

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/otlp"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// The instruments: OpenTelemetry's for generative AI, with the buckets it advises, and what things cost.
var (
	tokenUsage = &otlp.Instrument{
		Name: "gen_ai.client.token.usage", Unit: "{token}", Description: "Tokens of one call to a model.",
		Bounds: []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864},
	}
	callDuration = &otlp.Instrument{
		Name: "gen_ai.client.operation.duration", Unit: "s", Description: "How long one call to a model took.",
		Bounds: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92},
	}
	callCost = &otlp.Instrument{Name: "prloop.usage.cost", Unit: "{USD}", Description: "What calls to models cost, where it is known."}
	runCount = &otlp.Instrument{Name: "prloop.runs", Unit: "{run}", Description: "Runs by outcome."}
)

// Attributes of our own spans.
const (
	attrRun     = "prloop.run"
	attrTarget  = "prloop.target"
	attrOutcome = "prloop.outcome"
	attrState   = "prloop.agent.state"
)

// telemetry turns the news of one run into a trace: the run, its agents, their calls to models. No text of a prompt, an
// answer or a file is in it. A nil one exports nothing.
type telemetry struct {
	exporter *otlp.Exporter
	secret   []string

	mu    sync.Mutex
	root  otlp.Span
	asked map[string]otlp.Span
}

// watch begins the trace of a run, when there is a collector.
func (r *run) watch(req orchestrator.Request) {
	o := r.opts.Telemetry
	if o.Endpoint == "" {
		return
	}
	o.Log = r.log.Named("telemetry")
	t := &telemetry{exporter: otlp.Start(o, "github.com/prloop/prloop", r.opts.Version), secret: o.Secrets(), asked: map[string]otlp.Span{}}
	t.root = otlp.Span{
		Trace: otlp.NewTraceID(), ID: otlp.NewID(), Name: "prloop run", Start: time.Now(),
		Attributes: map[string]any{attrRun: req.Run, attrTarget: req.Target.String()},
	}
	r.telemetry = t
	r.cleanup.add(t.close)
}

// secrets are what the exporter holds.
func (t *telemetry) secrets() []string {
	if t == nil {
		return nil
	}
	return t.secret
}

// news makes a span of each agent that was asked.
func (t *telemetry) news(emit func(review.Event)) func(review.Event) {
	if t == nil {
		return emit
	}
	return func(e review.Event) {
		if e.Kind == review.EventState && e.Agent != "" {
			t.agent(e.Agent, e.State)
		}
		emit(e)
	}
}

func (t *telemetry) agent(name string, state review.AgentState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch state {
	case review.AgentRunning:
		t.asked[name] = otlp.Span{
			Trace: t.root.Trace, ID: otlp.NewID(), Parent: t.root.ID, Name: "invoke_agent " + name, Start: time.Now(),
			Attributes: map[string]any{gateway.AttrOperation: "invoke_agent", gateway.AttrProvider: "prloop", gateway.AttrAgent: name},
		}
	case review.AgentComplete, review.AgentDegraded, review.AgentFailed:
		span, ok := t.asked[name]
		if !ok { // answered before this process
			return
		}
		delete(t.asked, name)
		span.End, span.Attributes[attrState] = time.Now(), string(state)
		if state != review.AgentComplete {
			span.Failed, span.Attributes[gateway.AttrErrorType] = true, string(state)
		}
		t.exporter.Add(span)
	}
}

// observer hears of every call to a model; nil when nobody wants to know.
func (t *telemetry) observer() func(gateway.Observation) {
	if t == nil {
		return nil
	}
	return func(o gateway.Observation) {
		agent, _ := o.Attributes[gateway.AttrAgent].(string)
		model, _ := o.Attributes[gateway.AttrRequestModel].(string)
		_, failed := o.Attributes[gateway.AttrErrorType]
		t.mu.Lock()
		parent, ok := t.asked[agent]
		if !ok {
			parent = t.root
		}
		t.mu.Unlock()
		t.exporter.Add(otlp.Span{
			Trace: parent.Trace, ID: otlp.NewID(), Parent: parent.ID, Name: strings.TrimSpace("chat " + model), Client: true, Start: o.Start, End: o.End,
			Attributes: o.Attributes, Failed: failed,
		})
		t.measure(o)
	}
}

// measured are the attributes metrics are kept apart by: few values each.
var measured = []string{
	gateway.AttrOperation, gateway.AttrProvider, gateway.AttrRequestModel, gateway.AttrResponseModel, gateway.AttrServer, gateway.AttrPort, gateway.AttrErrorType,
}

func (t *telemetry) measure(o gateway.Observation) {
	set := map[string]any{}
	for _, name := range measured {
		if v, ok := o.Attributes[name]; ok {
			set[name] = v
		}
	}
	if o.Attributes[gateway.AttrFate] != gateway.FateDenied {
		t.exporter.Record(callDuration, o.End.Sub(o.Start).Seconds(), set)
	}
	if usd, ok := o.Attributes[gateway.AttrCostUSD].(float64); ok {
		t.exporter.Record(callCost, usd, set)
	}
	delete(set, gateway.AttrErrorType)
	for kind, name := range map[string]string{"input": gateway.AttrInputTokens, "output": gateway.AttrOutputTokens} {
		if n, ok := o.Attributes[name].(int); ok {
			set["gen_ai.token.type"] = kind
			t.exporter.Record(tokenUsage, float64(n), set)
		}
	}
}

// finished is a recorder that tells how the run ended.
type finished struct {
	orchestrator.Recorder
	t *telemetry
}

func (t *telemetry) record(r orchestrator.Recorder) orchestrator.Recorder {
	if t == nil {
		return r
	}
	return finished{r, t}
}

func (f finished) Finish(ctx context.Context, result review.RunResult) error {
	f.t.mu.Lock()
	f.t.root.Attributes[attrOutcome] = string(result.Outcome)
	f.t.root.Failed = result.Outcome == review.Failed
	f.t.mu.Unlock()
	f.t.exporter.Record(runCount, 1, map[string]any{attrOutcome: string(result.Outcome)})
	return f.Recorder.Finish(ctx, result)
}

// close ends what is still open and sends the rest.
func (t *telemetry) close() {
	t.mu.Lock()
	now := time.Now()
	for _, span := range t.asked {
		span.End, span.Failed, span.Attributes[gateway.AttrErrorType] = now, true, "canceled"
		t.exporter.Add(span)
	}
	t.root.End = now
	if _, ended := t.root.Attributes[attrOutcome]; !ended {
		t.root.Failed, t.root.Attributes[gateway.AttrErrorType] = true, "unfinished"
	}
	t.exporter.Add(t.root)
	t.mu.Unlock()
	t.exporter.Close()
}
