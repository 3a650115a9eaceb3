package config

import (
	"fmt"

	"github.com/prloop/prloop/internal/broker"

	"github.com/prloop/prloop/review"
)

// Upstream is one more endpoint that serves models, beside BaseURL.
type Upstream struct {
	Name    string `json:"name"`
	BaseURL string `json:"base_url"`
	// KeyEnv names the variable that holds the key; Key is what it held, empty for an endpoint that asks for none.
	KeyEnv string `json:"key_env,omitempty"`
	Key    Secret `json:"-"`
	// Models are the names served here. Every other name goes to BaseURL.
	Models []string `json:"models"`
}

// Model is what the operator knows of a model.
type Model struct {
	Name string `json:"name"`
	// Prices are dollars per million tokens; nil means those prloop knows. Input and output are given together; without
	// Cached, cached input costs as much as other input.
	Input  *float64 `json:"input_usd,omitempty"`
	Cached *float64 `json:"cached_usd,omitempty"`
	Output *float64 `json:"output_usd,omitempty"`
	// Fallbacks are asked in this order when the model's endpoint refuses or cannot be reached.
	Fallbacks []string `json:"fallbacks,omitempty"`
}

// RunLimits bound what all agents of a run spend together; 0 is without bound.
type RunLimits struct {
	LLMCalls, ToolCalls, Tokens int
	CostUSD                     float64
}

// Budgets bound dollars beyond a run; 0 is without bound.
type Budgets struct {
	PerPullRequestUSD, PerDayUSD float64
}

func upstreamShape() shape {
	return object([]any{"name", "base_url", "models"},
		"name", described(match(agentName), "Stands in errors and logs."),
		"base_url", described(match(httpAddress), "The OpenAI-compatible endpoint."),
		"key_env", described(match(variableName), "The variable that holds its key; without it no key is sent."),
		"models", described(list(text(1, 200), 1, 100), "The models it serves."))
}

func modelShape() shape {
	price := func(of string) shape {
		return described(number(0, 10_000), "Dollars per million tokens of "+of+"; 0 is free.")
	}
	return object([]any{"name"},
		"name", text(1, 200),
		"input_usd", price("input"), "cached_usd", price("cached input"), "output_usd", price("output"),
		"fallbacks", described(list(text(1, 200), 0, 5), "Models asked in this order when its endpoint refuses or cannot be reached; the report names the one that answered."))
}

// crossCheckModels finds names used twice and prices that are only half given.
func (s *source) crossCheckModels() {
	served := map[string]bool{}
	s.unique("upstreams", func(pointer string, m map[string]any) {
		models, _ := m["models"].([]any)
		for i, name := range models {
			n, _ := name.(string)
			if served[n] {
				s.faultAt(index(pointer+"/models", i), fmt.Sprintf("%q is served twice", clip(n)), "")
			}
			served[n] = true
		}
	})
	s.unique("models", func(pointer string, m map[string]any) {
		_, in := m["input_usd"]
		_, out := m["output_usd"]
		_, cached := m["cached_usd"]
		if in != out || cached && !in {
			s.faultAt(pointer, "a price needs both input_usd and output_usd", "")
		}
		fallbacks, _ := m["fallbacks"].([]any)
		for i, f := range fallbacks {
			if f == m["name"] {
				s.faultAt(index(pointer+"/fallbacks", i), "a model cannot stand in for itself", "")
			}
		}
	})
}

// unique refuses list items whose name stands there before, and hands each item on.
func (s *source) unique(key string, each func(pointer string, m map[string]any)) {
	items, _ := s.value[key].([]any)
	seen := map[string]bool{}
	for i, v := range items {
		pointer := index("/"+key, i)
		if name := item(v, "name"); name != "" {
			if seen[name] {
				s.faultIn(pointer+"/name", fmt.Sprintf("%q is used twice", clip(name)), "")
			}
			seen[name] = true
		}
		if m, ok := v.(map[string]any); ok {
			each(pointer, m)
		}
	}
}

// key is what a variable holds, or what stands for it where a broker has it.
func (r *resolver) key(variable string) Secret {
	if r.in.KeyBroker != "" {
		return Secret{broker.Held}
	}
	return Secret{r.in.Env(variable)}
}

// models settles what follows from the layers: the keys of the upstreams and of the search provider, and whether anybody chose a bound in dollars.
func (r *resolver) models() {
	r.settings.KeyBroker = r.in.KeyBroker
	if r.in.KeyBroker != "" {
		r.settings.APIKey = Secret{broker.Held}
	}
	for i := range r.settings.Upstreams {
		if u := &r.settings.Upstreams[i]; u.KeyEnv != "" && r.in.Env != nil {
			u.Key = r.key(u.KeyEnv)
		}
	}
	if w := &r.settings.WebSearch; w.KeyEnv != "" && r.in.Env != nil {
		w.Key = r.key(w.KeyEnv)
	}
	r.settings.CostChosen = r.origins["limits.max_cost_usd"].layer != LayerDefault || r.origins["verification.max_cost_usd"].layer != LayerDefault || r.origins["fix.max_cost_usd"].layer != LayerDefault
	r.settings.RunCostDefault = r.origins["run_limits.max_cost_usd"].layer == LayerDefault
	r.settings.ACPLimits = r.acpLimits()
	r.settings.ThinkingLimits = r.settings.Limits
	if r.origins["limits.max_wall_time_seconds"].layer == LayerDefault {
		r.settings.ThinkingLimits.WallTimeSeconds = max(thinkingSeconds, r.settings.Limits.WallTimeSeconds)
	}
}

// thinkingSeconds is what a model that reasons may take: its answers may be four times as long as others, and spec.md R3 counts with none of their thoughts.
const thinkingSeconds = 300

// acpLimits leave a foreign agent the room it needs: each call of a tool is a call of the model, and its start alone takes
// seconds. A bound somebody chose holds for it as for all.
func (r *resolver) acpLimits() review.Limits {
	l := r.settings.Limits
	room := func(key string, set func()) {
		if r.origins[key].layer == LayerDefault {
			set()
		}
	}
	room("limits.max_llm_calls", func() { l.LLMCalls = 40 })
	room("limits.max_tool_calls", func() { l.ToolCalls = 100 })
	room("limits.max_wall_time_seconds", func() { l.WallTimeSeconds = 600 })
	room("limits.max_cost_usd", func() { l.CostUSD = 1 })
	return l
}
