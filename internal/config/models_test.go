package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

const modelsFile = `upstreams:
  - {name: local, base_url: "http://127.0.0.1:11434/v1", models: [llama]}
  - {name: other, base_url: "https://other.example/v1", key_env: OTHER_KEY, models: [big, small]}
models:
  - {name: llama, input_usd: 0, output_usd: 0}
  - {name: big, input_usd: 3, cached_usd: 0.3, output_usd: 15, fallbacks: [small, llama]}
limits: {max_tokens: 200000}
run_limits: {max_llm_calls: 20, max_tool_calls: 30, max_tokens: 500000, max_cost_usd: 2}
budgets: {per_pull_request_usd: 5, per_day_usd: 50}
`

func TestSeveralUpstreamsAndBudgets(t *testing.T) {
	s, err := Resolve(Input{Operator: operator(modelsFile), Env: env("OTHER_KEY", "sk-other-secret")})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Upstreams) != 2 || s.Upstreams[1].Key.Reveal() != "sk-other-secret" || s.Upstreams[0].Key.Reveal() != "" || !s.ModelConfigured() {
		t.Errorf("upstreams %+v", s.Upstreams)
	}
	if len(s.Models) != 2 || *s.Models[0].Output != 0 || *s.Models[1].Cached != 0.3 || strings.Join(s.Models[1].Fallbacks, " ") != "small llama" {
		t.Errorf("models %+v", s.Models)
	}
	if s.AgentTokens != 200_000 || s.RunLimits != (RunLimits{20, 30, 500_000, 2}) || s.Budgets != (Budgets{5, 50}) || s.CostChosen {
		t.Errorf("tokens %d, run %+v, budgets %+v, chosen %v", s.AgentTokens, s.RunLimits, s.Budgets, s.CostChosen)
	}
	for _, e := range s.Explain() {
		if text := fmt.Sprintf("%v %+v %s", e.Value, e, e); strings.Contains(text, "sk-other") {
			t.Errorf("a key is printed: %s", text)
		}
	}
	s, err = Resolve(Input{Operator: operator("limits: {max_cost_usd: 0.5}")})
	if err != nil || !s.CostChosen {
		t.Errorf("a bound that was written down was chosen, whatever its value: %v", err)
	}
}

// A foreign agent calls its model once for each tool: two calls are no review. What somebody chose holds for it too.
func TestACPAgentsHaveRoom(t *testing.T) {
	for _, row := range []struct {
		file                       string
		calls, tools, seconds, out int
		usd                        float64
	}{
		{"{}", 40, 100, 600, 15, 1},
		{"limits: {max_llm_calls: 2, max_output_issues: 3}", 2, 100, 600, 3, 1},
		{"limits: {max_tool_calls: 0, max_wall_time_seconds: 60, max_cost_usd: 0.5}", 40, 0, 60, 15, 0.5},
	} {
		s, err := Resolve(Input{Operator: operator(row.file)})
		if l := s.ACPLimits; err != nil || l.LLMCalls != row.calls || l.ToolCalls != row.tools || l.WallTimeSeconds != row.seconds || l.Findings != row.out || l.CostUSD != row.usd {
			t.Errorf("%s: %+v %v", row.file, l, err)
		}
		if row.file == "{}" && s.Limits != review.DefaultLimits() {
			t.Errorf("%s: the limits of others are %+v", row.file, s.Limits)
		}
	}
}

// A model that reasons takes minutes: its reviewer has them, unless somebody chose how many.
func TestThinkingTakesTime(t *testing.T) {
	for file, want := range map[string]int{"{}": 300, "effort: light": 300, "effort: thorough": 600, "limits: {max_wall_time_seconds: 60}": 60} {
		s, err := Resolve(Input{Operator: operator(file)})
		others := s.Limits
		if others.WallTimeSeconds = want; err != nil || s.ThinkingLimits != others {
			t.Errorf("%s: %+v %v", file, s.ThinkingLimits, err)
		}
	}
}

// Whoever pays sets the cap: a repository lowers it, and cannot lift or remove it.
func TestRepositoryAndBudgets(t *testing.T) {
	s, err := Resolve(Input{Operator: operator(modelsFile), Repository: repo("run_limits: {max_cost_usd: 9, max_llm_calls: 5}\nlimits: {max_tokens: 900000}")})
	if err != nil || s.RunLimits.CostUSD != 2 || s.RunLimits.LLMCalls != 5 || s.AgentTokens != 200_000 {
		t.Errorf("run %+v, tokens %d, %v", s.RunLimits, s.AgentTokens, err)
	}
	for rule, text := range map[string]string{
		"no endpoints":               "upstreams: []",
		"no prices":                  "models: []",
		"no budget of a day":         "budgets: {per_day_usd: 1}",
		"zero would lift the bound":  "run_limits: {max_cost_usd: 0}",
		"zero would lift this bound": "limits: {max_tokens: 0}",
		"zero would be the default":  "limits: {max_cost_usd: 0}",
	} {
		if err := Validate(Repository, ".reviewerc", []byte(text)); err == nil {
			t.Errorf("%s: %s was accepted", rule, text)
		}
	}
}

func TestFaultsOfModels(t *testing.T) {
	got := strings.Join(faultLines(t, Validate(Operator, "config.yml", []byte(`upstreams:
  - {name: a, base_url: "https://a.example", models: [m]}
  - {name: a, base_url: "https://b.example", models: [m]}
  - {name: c, base_url: "https://u:p@c.example", models: [n], key: sk}
models:
  - {name: x, input_usd: 1}
  - {name: x, fallbacks: [x]}
  - {name: y, cached_usd: 1}
`))), "\n")
	want := strings.TrimSpace(`
3 upstreams[1].name: "a" is used twice
3 upstreams[1].models[0]: "m" is served twice
4 upstreams[2].base_url: is not an address that begins with http:// or https://, without spaces and @
4 upstreams[2].key: unknown key
6 models[0]: a price needs both input_usd and output_usd
7 models[1].name: "x" is used twice
7 models[1].fallbacks[0]: a model cannot stand in for itself
8 models[2]: a price needs both input_usd and output_usd`)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTimesOfModels: who pays says how long models may be silent and take; a repository may ask for less. A call has no bound of its
// own until somebody sets one.
func TestTimesOfModels(t *testing.T) {
	operator := &File{Name: "config.yml", Data: []byte("limits: {max_idle_seconds: 600, max_call_seconds: 900, max_answer_tokens: 20000}\n")}
	s, err := Resolve(Input{Operator: operator, Repository: &File{Name: ".reviewerc", Data: []byte(
		"limits: {max_idle_seconds: 700, max_call_seconds: 60, max_answer_tokens: 30000}\nreasoning_effort: high\n")}})
	if l := s.Limits; err != nil || l.IdleSeconds != 600 || l.CallSeconds != 60 || l.AnswerTokens != 20000 || s.ReasoningEffort != "high" || s.ACPLimits.IdleSeconds != 600 {
		t.Errorf("%v %+v", err, s.Limits)
	}
	s, err = Resolve(Input{})
	if err != nil || s.Limits.IdleSeconds != 300 || s.Limits.CallSeconds != 0 || s.ReasoningEffort != "" {
		t.Errorf("%v %+v", err, s.Limits)
	}
	said := map[string]string{}
	for _, e := range s.Explain() {
		said[e.Key] = e.String()
	}
	for key, want := range map[string]string{
		"limits.max_idle_seconds": "limits.max_idle_seconds = 300  (default)", "limits.max_call_seconds": "limits.max_call_seconds = 0  (default); as long as the wall time lasts",
		"limits.max_answer_tokens": "limits.max_answer_tokens = 0  (default); 8192, and 32768 for models that reason", "reasoning_effort": "reasoning_effort = (none)  (default)",
	} {
		if said[key] != want {
			t.Errorf("explained as %q, want %q", said[key], want)
		}
	}
}
