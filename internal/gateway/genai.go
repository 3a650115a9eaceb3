package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
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
	AttrFinish        = "gen_ai.response.finish_reasons"
	AttrInputTokens   = "gen_ai.usage.input_tokens"
	AttrOutputTokens  = "gen_ai.usage.output_tokens"
	AttrErrorType     = "error.type"
	AttrServer        = "server.address"
	AttrPort          = "server.port"
	AttrFate          = "prloop.call.fate"
	AttrUpstream      = "prloop.upstream"
	AttrCachedTokens  = "prloop.usage.cached_tokens"
	AttrCostUSD       = "prloop.usage.cost_usd"
)

// Values of AttrFate.
const (
	FateAnswered = "answered"
	// FateRefused: no model answered, nothing was spent.
	FateRefused = "refused"
	// FateLost: what was answered, and what it cost, will never be known.
	FateLost = "lost"
	// FateDenied: the gateway did not make the call.
	FateDenied = "denied"
)

// Observation is one call to a model for whoever exports traces or counters. It holds no text of the conversation: words
// of agents and endpoints stand in it only when they have the shape of a name.
type Observation struct {
	Start, End time.Time
	// Attributes are texts, lists of texts, whole numbers and dollars; what is not known is not in it.
	Attributes map[string]any
}

// report tells the observer how a call ended.
func (r *reservation) report(s spent, fate string, now time.Time) {
	if r.observe == nil {
		return
	}
	at := labels(r.account.agent, r.model, r.upstream)
	at[AttrMaxTokens], at[AttrFate] = r.output, fate
	if fate == FateAnswered {
		at[AttrResponseModel] = word(cmp.Or(s.model, r.model))
	} else {
		at[AttrErrorType] = fate
	}
	if r.cause != "" {
		at[AttrErrorType] = r.cause
	}
	if len(s.finish) > 0 {
		at[AttrFinish] = s.finish
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

// denied tells the observer of a call that was not made; without endpoint when no model was chosen, and without model when its
// request was not even read.
func (g *Gateway) denied(a *account, model string, u *upstream, err error) {
	if g.options.Observe == nil {
		return
	}
	at := labels(a.agent, model, u)
	at[AttrFate], at[AttrErrorType] = FateDenied, errorType(nil, err)
	now := g.options.now()
	g.options.Observe(Observation{Start: now, End: now, Attributes: at})
}

func labels(agent, model string, u *upstream) map[string]any {
	at := map[string]any{AttrOperation: "chat", AttrAgent: agent}
	if model != "" {
		at[AttrRequestModel] = word(model)
	}
	if u == nil {
		return at
	}
	host := u.base.Hostname()
	at[AttrUpstream], at[AttrProvider], at[AttrServer] = u.Name, provider(host, u.Name), host
	if port, err := strconv.Atoi(u.base.Port()); err == nil {
		at[AttrPort] = port
	}
	return at
}

// providers are the well-known values of AttrProvider by the host that serves them.
var providers = map[string]string{
	"api.openai.com": "openai", "api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "gcp.gemini", "api.mistral.ai": "mistral_ai",
	"api.deepseek.com": "deepseek", "api.x.ai": "x_ai", "api.groq.com": "groq", "api.cohere.com": "cohere", "api.perplexity.ai": "perplexity",
}

func provider(host, name string) string {
	if strings.HasSuffix(host, ".openai.azure.com") {
		return "azure.ai.openai"
	}
	return cmp.Or(providers[host], name)
}

// wordLimit bounds a word of an agent or endpoint, in bytes.
const wordLimit = 100

// otherWord stands for a word that is not told.
const otherWord = "(other)"

// word lets a name through, and nothing that could carry text.
func word(s string) string {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-:/@", r)
	}
	if len(s) > wordLimit || strings.ContainsFunc(s, odd) {
		return otherWord
	}
	return s
}

// errorType names what went wrong with a call, by kind; never in words of the endpoint.
func errorType(resp *http.Response, err error) string {
	var e *EndpointError
	var budget *BudgetError
	var timeout net.Error
	switch {
	case errors.As(err, &e) && e.Status >= 300:
		return strconv.Itoa(e.Status)
	case resp != nil && resp.StatusCode >= 300:
		return strconv.Itoa(resp.StatusCode)
	case e != nil:
		return "no_api"
	case errors.As(err, &budget):
		return "budget_exceeded"
	case errors.As(err, new(*ModelError)):
		return "model_not_allowed"
	case errors.As(err, new(*PriceError)):
		return "unknown_price"
	case errors.As(err, new(*CassetteMissError)):
		return "cassette_miss"
	case errors.Is(err, errTooLarge):
		return "too_large"
	case errors.As(err, new(*UnreadError)):
		return "not_read"
	case errors.As(err, new(*SilentError)), errors.As(err, new(*SlowError)), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case err != nil:
		return "connection_error"
	}
	return ""
}

// finishes are why the answers in a message or event ended: of chat completions by choice, of responses by status.
func finishes(a answerWire) []string {
	var out []string
	for _, raw := range a.Choices {
		var c struct {
			Reason string `json:"finish_reason"`
		}
		if json.Unmarshal(raw, &c) == nil && c.Reason != "" {
			out = append(out, word(c.Reason))
		}
	}
	if reason := a.stopped(); reason != "" {
		out = append(out, word(reason))
	}
	if a.Status != "" && a.Status != "in_progress" {
		out = append(out, word(cmp.Or(a.Incomplete.Reason, a.Status)))
	}
	return out
}
