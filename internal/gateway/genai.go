package gateway

import (
	"cmp"
	"time"
)

// Names of attributes of one model call: those of OpenTelemetry's semantic conventions for generative AI where they have
// one, else our own.
const (
	AttrOperation     = "gen_ai.operation.name"
	AttrProvider      = "gen_ai.provider.name"
	AttrAgent         = "gen_ai.agent.name"
	AttrRequestModel  = "gen_ai.request.model"
	AttrMaxTokens     = "gen_ai.request.max_tokens"
	AttrResponseModel = "gen_ai.response.model"
	AttrInputTokens   = "gen_ai.usage.input_tokens"
	AttrOutputTokens  = "gen_ai.usage.output_tokens"
	AttrErrorType     = "error.type"
	AttrServer        = "server.address"
	AttrCachedTokens  = "prloop.usage.cached_tokens"
	AttrCostUSD       = "prloop.usage.cost_usd"
)

// Values of AttrErrorType.
const (
	// ErrorRefused: no model answered, nothing was spent.
	ErrorRefused = "refused"
	// ErrorLost: what was answered, and what it cost, will never be known.
	ErrorLost = "lost"
)

// Observation is one call to a model for whoever exports traces or counters. It holds no text of the conversation.
type Observation struct {
	Start, End time.Time
	// Attributes are texts, whole numbers and dollars; what is not known is not in it.
	Attributes map[string]any
}

// report tells the observer how a call ended.
func (r *reservation) report(s spent, trouble string, now time.Time) {
	if r.observe == nil {
		return
	}
	at := map[string]any{
		AttrOperation: "chat", AttrAgent: r.account.agent, AttrRequestModel: r.model, AttrMaxTokens: r.output,
		AttrProvider: r.upstream.Name, AttrServer: r.upstream.base.Hostname(),
	}
	if trouble != "" {
		at[AttrErrorType] = trouble
	} else {
		at[AttrResponseModel] = cmp.Or(s.model, r.model)
	}
	for name, n := range map[string]*int{AttrInputTokens: s.input, AttrOutputTokens: s.output, AttrCachedTokens: s.cached} {
		if n != nil {
			at[name] = *n
		}
	}
	if cost := r.cost(s); cost != nil {
		at[AttrCostUSD] = *cost
	}
	r.observe(Observation{Start: r.started, End: now, Attributes: at})
}
