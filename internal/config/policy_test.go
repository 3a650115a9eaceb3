package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/policy"
)

func rowOf(t *testing.T, words ...string) *policy.Row {
	t.Helper()
	v, err := policy.Assign(policy.Values{}, words)
	if err != nil {
		t.Fatal(err)
	}
	return &policy.Row{Repo: policy.Repo{Host: "github.com", ID: 5, Name: "octo/demo"}, Version: 3, Columns: v}
}

func explained(t *testing.T, s Settings, key string) string {
	t.Helper()
	i := slices.IndexFunc(s.Explain(), func(e Setting) bool { return e.Key == key })
	if i < 0 {
		t.Fatalf("%s is not explained", key)
	}
	return s.Explain()[i].String()
}

// A row stands above the crew, .reviewerc and the operator's file.
func TestPolicyOverWeaker(t *testing.T) {
	s, err := Resolve(Input{
		Policy:     rowOf(t, "gating_policy=verdict", "allowed_labels=strict", "context_path_excludes=customer_data/**,docs/**", "guidance_files=STYLE.md", "fixing=false", "max_tokens_full_override=5000"),
		Repository: &File{Name: ".reviewerc", Data: []byte("gate: presence\ngate_labels: [advisory]\ncontext:\n  never_read: [\"docs/**\"]\n  guidance: [RULES.md]\nfixer: {use: builtin}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"gate":                     `gate = verdict  (policy, policy of octo/demo, version 3)`,
		"gate_labels":              `gate_labels = ["strict"]  (policy, policy of octo/demo, version 3)`,
		"context.never_read":       `context.never_read = ["docs/**","customer_data/**"]  (policy, policy of octo/demo, version 3); added to those of .reviewerc:4`,
		"context.guidance":         `context.guidance = ["RULES.md","STYLE.md"]  (policy, policy of octo/demo, version 3); added to those of .reviewerc:5`,
		"fixer":                    `fixer = "none"  (policy, policy of octo/demo, version 3)`,
		"limits.max_answer_tokens": "limits.max_answer_tokens = 5000  (policy, policy of octo/demo, version 3)",
	} {
		if got := explained(t, s, key); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// fixing=true undoes a weaker layer's word that nobody fixes, and leaves the fixer that one names.
func TestPolicyFixing(t *testing.T) {
	for file, want := range map[string]string{"fixer: none\n": "builtin", "": "builtin", "fixer: {use: command, path: fixit}\n": "command"} {
		in := Input{Env: func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }, Policy: rowOf(t, "fixing=true"), Operator: &File{Name: "config.yml", Data: []byte(file)}}
		s, err := Resolve(in)
		if err != nil || s.Fixer.Use != want {
			t.Errorf("%q: %q, %v; want %q", file, s.Fixer.Use, err, want)
		}
	}
}

// A row is bounded by the operator's file, as .reviewerc is, and explain says so; who writes the row is told.
func TestPolicyIsBounded(t *testing.T) {
	operator := &File{Name: "config.yml", Data: []byte("gate: presence\nrun_limits: {max_cost_usd: 2}\nlimits: {max_cost_usd: 0.5, max_answer_tokens: 1000}\n")}
	row := rowOf(t, "gating_policy=verdict", "max_cost_per_run_usd=3", "max_cost_per_agent_usd=0.25", "max_tokens_full_override=4000")
	s, err := Resolve(Input{Operator: operator, Policy: row, Repository: &File{Name: ".reviewerc", Data: []byte("gate: off\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Gate != gate.Presence || s.RunLimits.CostUSD != 2 || s.Limits.CostUSD != 0.25 || s.Limits.AnswerTokens != 1000 {
		t.Errorf("gate %s, run %g, agent %g, tokens %d", s.Gate, s.RunLimits.CostUSD, s.Limits.CostUSD, s.Limits.AnswerTokens)
	}
	if got, want := explained(t, s, "gate"), `gate = presence  (operator, config.yml:1); policy of octo/demo, version 3 asks for verdict, which is more than the operator allows`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	err = CheckPolicy(operator, row.Columns)
	want := "gating_policy: the operator allows presence at most (config.yml:1)\nmax_cost_per_run_usd: the operator allows 2 at most (config.yml:2)\n" +
		"max_tokens_full_override: the operator allows 1000 at most (config.yml:3)"
	if !errors.As(err, new(*policy.Error)) || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if err := CheckPolicy(nil, row.Columns); err != nil {
		t.Errorf("without an operator's file: %v", err)
	}
}

// No row is today's behaviour, and neither is an empty one another.
func TestNoPolicy(t *testing.T) {
	plain, err := Resolve(Input{})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Resolve(Input{Policy: &policy.Row{}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(plain.Explain()), fmt.Sprint(empty.Explain()); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// Whatever a column takes, its setting takes, too: a row that was saved never breaks a run.
func TestColumnsFitTheirKeys(t *testing.T) {
	for _, c := range policy.Columns() {
		i := slices.IndexFunc(keys(), func(k key) bool { return k.path == c.Key })
		if i < 0 {
			t.Errorf("%s: there is no setting %s", c.Name, c.Key)
			continue
		}
		var values []any
		switch {
		case c.Key == "fixer":
			values = []any{false}
		case c.Kind == policy.Bool:
			values = []any{true, false}
		case c.Kind == policy.Int, c.Kind == policy.Number:
			values = []any{c.Low, c.High}
		case c.Kind == policy.List && len(c.Words) > 0:
			values = []any{anys(c.Words), []any{}}
		case c.Kind == policy.List:
			var most []any
			for n := range c.Items {
				most = append(most, fmt.Sprintf("%0*d", c.Most, n))
			}
			values = []any{most, []any{}}
		case len(c.Words) > 0:
			values = anys(c.Words)
		default:
			values = []any{"a", strings.Repeat("a", c.Most)}
		}
		for _, v := range values {
			s := &source{places: map[string]place{}}
			if message := s.fits(keys()[i], v); message != "" {
				t.Errorf("%s = %.40v: %s %s", c.Name, v, c.Key, message)
			}
		}
	}
}

func anys(words []string) (out []any) {
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// What one layer withholds no other opens.
func TestNeverReadAddsUp(t *testing.T) {
	s, err := Resolve(Input{
		Operator:   &File{Name: "config.yml", Data: []byte("context: {never_read: [a, b], exclude: [x]}\n")},
		Repository: &File{Name: ".reviewerc", Data: []byte("context: {never_read: [c, a], exclude: [y]}\n")},
		Policy:     rowOf(t, "context_path_excludes=d"),
		Given:      []Given{{Key: "context.never_read", Value: "e", From: "--never-read"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.Context.NeverRead, s.Context.Exclude); got != "[a b c d e] [y]" {
		t.Error(got)
	}
}
