package config

import (
	"errors"
	"strings"
	"testing"
)

func TestWhoVerifies(t *testing.T) {
	key := env("OPENAI_API_KEY", "sk-x")
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"nobody without a model", Input{}, "none"},
		{"a model, and a builtin reviewer", Input{Env: key}, "builtin"},
		{"the model of the first that asks one", Input{Env: key, Repository: repo("reviewers: [{name: s, use: static}, {name: a, use: builtin, model: big}, {name: b, use: builtin, model: small}]\n")}, "builtin big"},
		{"its own model", Input{Env: key, Repository: repo("verifier: {use: builtin, model: other}\nreviewers: [{name: a, use: builtin, model: big}]\n")}, "builtin other"},
		{"a model, but only static reviews", Input{Env: key, Reviewers: []string{"static"}}, "none"},
		{"a model, but only a program reviews", Input{Env: key, Reviewers: []string{"exec:./x"}}, "none"},
		{"a word is short for a group", Input{Env: key, Operator: operator("verifier: off\n"), Repository: repo("verifier: builtin\n")}, "builtin"},
		{"off", Input{Env: key, Repository: repo("verifier: off\n")}, "none"},
		{"none", Input{Env: key, Repository: repo("verifier: none\n")}, "none"},
		{"false", Input{Env: key, Operator: operator("verifier: false\n")}, "none"},
		{"a program of the operator's", Input{Operator: operator("verifier: {use: command, path: ./verify.sh}\n")}, "command /home/op/prloop/verify.sh"},
		{"an agent over ACP", Input{Operator: operator("verifier: {use: acp, preset: opencode}\n")}, "acp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Resolve(c.in)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(strings.Join([]string{s.Verifier.Use, s.Verifier.Model, s.Verifier.Path}, " ")), " ")
			if got != c.want || s.Verifier.Name != VerifierName {
				t.Errorf("%s is %q, want %q", s.Verifier.Name, got, c.want)
			}
		})
	}
}

// A verifier of the repository's file is held to the rules of its reviewers (decision 9), and its budgets to the operator's.
func TestVerifierOfTheRepository(t *testing.T) {
	var refused *RepoCommandError
	if _, err := Resolve(Input{Repository: repo("verifier: {use: command, path: verify}\n")}); !errors.As(err, &refused) {
		t.Errorf("a program of the repository on a pull request: %v", err)
	}
	s, err := Resolve(Input{Operator: operator("verification: {max_cost_usd: 0.1}\n"), Repository: repo("verification: {max_cost_usd: 5, max_llm_calls: 6}\n")})
	if err != nil || s.Verification.Limits.CostUSD != 0.1 || s.Verification.Limits.LLMCalls != 6 {
		t.Errorf("%+v %v", s.Verification.Limits, err)
	}
}

func TestSettingsOfTheVerifier(t *testing.T) {
	s, err := Resolve(Input{})
	if err != nil {
		t.Fatal(err)
	}
	v := s.Verification
	if v.LookBelow != 0.65 || v.StrongerBelow != 0.6 || v.ExtraFiles != 2 || v.ExtraLines != 200 || s.Rule != "all" || s.NoiseBudget != 5 || s.Limits.Candidates != 30 {
		t.Errorf("%+v, rule %s, budget %d, %d candidates", v, s.Rule, s.NoiseBudget, s.Limits.Candidates)
	}
	// The keys of before are accepted: they are the verifier's now.
	s, err = Resolve(Input{Repository: repo("escalation_model: large\nlimits: {max_verify_candidates: 7}\nconsensus: {rule: verified}\n")})
	if err != nil || s.StrongerModel != "large" || s.Limits.Candidates != 7 || s.Rule != "verified" {
		t.Errorf("%s %d %s %v", s.StrongerModel, s.Limits.Candidates, s.Rule, err)
	}
	// A bound that somebody chose for one agent holds for the verifier, unless it has one of its own.
	s, err = Resolve(Input{Operator: operator("limits: {max_llm_calls: 3, max_tool_calls: 100, max_cost_usd: 0.1}\nverification: {max_llm_calls: 8}\n")})
	if l := s.Verification.Limits; err != nil || l.LLMCalls != 8 || l.ToolCalls != 40 || l.CostUSD != 0.1 || l.WallTimeSeconds != 300 {
		t.Errorf("%+v %v", l, err)
	}
	for _, bad := range []string{"consensus: {rule: some}\n", "verifier: yes please\n", "verifier: {use: static}\n", "verifier: {use: builtin, lens: security}\n",
		"verification: {look_below: 2}\n", "publish: {noise_budget: 0}\n", "reviewers: [{name: verifier, use: builtin}]\n", "verify_candidates: 5\n"} {
		if _, err := Resolve(Input{Repository: repo(bad)}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
