package config

import (
	"cmp"

	"github.com/prloop/prloop/review"
)

// The efforts: how much a review may take where nobody said it in detail.
const (
	effortLight    = "light"
	effortStandard = "standard"
	effortThorough = "thorough"
)

// level is what an effort decides.
type level struct {
	lenses []string
	// verifier is whether a model tries to refute what was found.
	verifier bool
	limits   review.Limits
}

// levelOf is who takes part with an effort, and what each of them may take. From as many model calls as thorough has, a builtin reviewer
// reads in passes and with tools.
func levelOf(effort string) level {
	c := level{lenses: []string{"general"}, verifier: effort != effortLight, limits: review.DefaultLimits()}
	if effort == effortThorough {
		c.lenses = []string{"general", "security"}
		c.limits.LLMCalls, c.limits.ToolCalls, c.limits.WallTimeSeconds, c.limits.CostUSD = 10, 20, 600, 1.50
	}
	return c
}

// effort gives values that no layer set those of the effort.
func (r *resolver) effort() {
	s := &r.settings
	l := levelOf(s.Effort).limits
	note := "effort " + s.Effort
	for _, v := range []struct {
		key  string
		take func()
	}{
		{"max_llm_calls", func() { s.Limits.LLMCalls = l.LLMCalls }},
		{"max_tool_calls", func() { s.Limits.ToolCalls = l.ToolCalls }},
		{"max_wall_time_seconds", func() { s.Limits.WallTimeSeconds = l.WallTimeSeconds }},
		{"max_cost_usd", func() { s.Limits.CostUSD = l.CostUSD }},
	} {
		key := "limits." + v.key
		o := r.origins[key]
		if o.layer != LayerDefault {
			continue
		}
		v.take()
		if s.Effort != effortStandard {
			o.note = cmp.Or(o.note, note)
			r.origins[key] = o
		}
	}
}
