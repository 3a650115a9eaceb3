package app

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/broker"
	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/gateway"
	"github.com/prloop/prloop/internal/modelagent"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/internal/webfetch"
	"github.com/prloop/prloop/internal/websearch"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// gatewayOptions turn settings into endpoints, prices and bounds.
func gatewayOptions(log hclog.Logger, settings config.Settings) gateway.Options {
	o := gateway.Options{
		Broker: settings.KeyBroker, Log: log.Named("gateway"), AgentTokens: settings.AgentTokens, RefuseUnpriced: settings.CostChosen, AdmitUnpriced: settings.RunCostDefault,
		Prices: map[string]gateway.Price{}, Fallbacks: map[string][]string{}, FreeTools: append([]string{modelagent.SubmitTool, modelagent.FixTool}, acp.SubmitNames()...),
		Run: gateway.Totals{
			LLMCalls: settings.RunLimits.LLMCalls, ToolCalls: settings.RunLimits.ToolCalls, Tokens: settings.RunLimits.Tokens,
			CostUSD: settings.RunLimits.CostUSD, WallTime: settings.WallTime,
		},
	}
	if len(settings.FetchHosts) > 0 {
		web := webfetch.New(settings.FetchHosts)
		o.Fetch = func(ctx context.Context, url string, asked func(host string)) (any, error) {
			return web.Fetch(ctx, url, asked)
		}
	}
	if s := settings.WebSearch; s.Provider != "" {
		search := websearch.New(s.Provider, s.BaseURL, s.Key.Reveal(), settings.KeyBroker)
		o.Search = func(ctx context.Context, query string) (any, error) { return search.Search(ctx, query) }
	}
	for _, u := range settings.Upstreams {
		o.Upstreams = append(o.Upstreams, gateway.Upstream{Name: u.Name, BaseURL: u.BaseURL, Key: gateway.NewSecret(u.Key.Reveal()), Models: u.Models})
	}
	if key := settings.APIKey.Reveal(); key != "" || len(o.Upstreams) == 0 {
		// The common endpoint comes last: it takes every model that no other one names.
		o.Upstreams = append(o.Upstreams, gateway.Upstream{Name: endpointName(settings.BaseURL), BaseURL: settings.BaseURL, Key: gateway.NewSecret(key)})
	}
	for _, m := range settings.Models {
		if m.Input != nil && m.Output != nil {
			p := gateway.Price{Input: *m.Input, Cached: *m.Input, Output: *m.Output}
			if m.Cached != nil {
				p.Cached = *m.Cached
			}
			o.Prices[m.Name] = p
		}
		if len(m.Fallbacks) > 0 {
			o.Fallbacks[m.Name] = m.Fallbacks
		}
	}
	return o
}

// runModels are the models of a run: those its agents ask for, and those the operator names.
func runModels(settings config.Settings, agents []orchestrator.AgentPlan) []string {
	out := []string{settings.Model}
	for _, a := range agents {
		out = append(out, agentrun.ModelsOf(a)...)
	}
	for _, m := range settings.Models {
		out = append(append(out, m.Name), m.Fallbacks...)
	}
	for _, u := range settings.Upstreams {
		out = append(out, u.Models...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// caps bound what a pull request and a day may cost, by what the store remembers. Of an agent whose cost nobody knows, such
// as one whose model never answered, the most it may have cost counts: unknown is not nothing.
func (r *run) caps(target review.Target) []gateway.Cap {
	settings, b := r.settings, r.settings.Budgets
	r.spend.store, r.spend.most = r.store, max(settings.Limits.CostUSD, settings.ACPLimits.CostUSD, settings.Verification.Limits.CostUSD, settings.Fix.Limits.CostUSD)
	spent := func(repo string, pr int, since func() time.Time) func(context.Context) (float64, error) {
		return func(ctx context.Context) (float64, error) { return r.spend.spent(ctx, repo, pr, since()) }
	}
	var out []gateway.Cap
	if b.PerPullRequestUSD > 0 && target.PR != 0 {
		always := func() time.Time { return time.Time{} }
		out = append(out, gateway.Cap{Name: "pull request", USD: b.PerPullRequestUSD, Spent: spent(target.Repo.String(), target.PR, always)})
	}
	if b.PerDayUSD > 0 {
		day := func() time.Time { return wallclock.Now().Add(-24 * time.Hour) }
		out = append(out, gateway.Cap{Name: "day", USD: b.PerDayUSD, Spent: spent("", 0, day)})
	}
	return out
}

// modelSecrets are all keys of the settings; none where a broker holds them.
func modelSecrets(settings config.Settings) []string {
	if settings.KeyBroker != "" {
		return nil
	}
	out := []string{settings.APIKey.Reveal(), settings.WebSearch.Key.Reveal()}
	for _, u := range settings.Upstreams {
		out = append(out, u.Key.Reveal())
	}
	return out
}

// Endpoints are what a broker that holds the keys of the settings makes calls to.
func Endpoints(settings config.Settings) []broker.Endpoint {
	var out []broker.Endpoint
	for _, u := range gatewayOptions(hclog.NewNullLogger(), settings).Upstreams {
		out = append(out, u.Endpoint())
	}
	if s := settings.WebSearch; s.Provider != "" {
		out = append(out, websearch.Endpoint(s.Provider, s.BaseURL, s.Key.Reveal()))
	}
	return out
}
