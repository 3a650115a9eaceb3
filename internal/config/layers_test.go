package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each layer is taken away in turn, from the strongest to the weakest; what is left says which layer set the value.
func TestPrecedenceOfAllLayers(t *testing.T) {
	all := Input{
		Given:      []Given{{Key: "model", Value: "of-the-line", From: "--model"}},
		Env:        func(name string) string { return map[string]string{"PRLOOP_MODEL": "of-the-environment"}[name] },
		Policy:     rowOf(t, "crew=night"),
		Repository: &File{Name: ".reviewerc", Data: []byte("model: of-the-repository\n")},
		Operator:   &File{Name: "config.yml", Data: []byte("model: of-the-operator\ncrews:\n  - name: night\n    model: of-the-crew\n")},
	}
	want := []string{
		"model = of-the-line  (command line, --model)",
		"model = of-the-environment  (environment, $PRLOOP_MODEL)",
		"model = of-the-crew  (crew, config.yml:4); crew night",
		"model = of-the-repository  (repository, .reviewerc:1)",
		"model = of-the-operator  (operator, config.yml:1)",
		"model = gpt-4.1-mini  (default)",
	}
	weaken := []func(*Input){
		func(*Input) {}, func(i *Input) { i.Given = nil }, func(i *Input) { i.Env = nil }, func(i *Input) { i.Policy = nil }, func(i *Input) { i.Repository = nil },
		func(i *Input) { i.Operator = nil },
	}
	for i, less := range weaken {
		less(&all)
		s, err := Resolve(all)
		if err != nil {
			t.Fatal(err)
		}
		if got := explained(t, s, "model"); got != want[i] {
			t.Errorf("%s\nwant %s", got, want[i])
		}
	}
}

// A prompt and a bound on tokens go the same way, and a crew has them in groups as a file does: row, crew, .reviewerc, operator's file.
func TestPrecedenceOfPrompts(t *testing.T) {
	all := Input{
		Given:      []Given{{Key: "full.prompt", Value: "of the line", From: "--full-prompt"}},
		Policy:     rowOf(t, "crew=night", "prompt_full_override=of the row", "prompt_quick_override=of the row", "max_tokens_quick_override=300"),
		Repository: &File{Name: ".reviewerc", Data: []byte("full: {prompt: of the repository}\nquick: {prompt: of the repository, max_answer_tokens: 500}\n")},
		Operator: &File{Name: "config.yml", Data: []byte("full: {prompt: of the operator}\nquick: {prompt: of the operator, max_answer_tokens: 600}\ncrew: night\n" +
			"crews:\n  - name: night\n    full: {prompt: of the crew}\n    quick:\n      prompt: of the crew\n      max_answer_tokens: 400\n")},
	}
	for _, step := range []struct {
		less               func(*Input)
		full, quick, layer string
		tokens             int
	}{
		{func(*Input) {}, "of the line", "of the row", "policy of octo/demo, version 3", 300},
		{func(i *Input) { i.Given = nil }, "of the row", "of the row", "policy of octo/demo, version 3", 300},
		{func(i *Input) { i.Policy = nil }, "of the crew", "of the crew", "config.yml:8", 400},
		{func(i *Input) {
			i.Operator.Data = []byte("full: {prompt: of the operator}\nquick: {prompt: of the operator, max_answer_tokens: 600}\n")
		}, "of the repository", "of the repository", ".reviewerc:2", 500},
		{func(i *Input) { i.Repository = nil }, "of the operator", "of the operator", "config.yml:2", 600},
	} {
		step.less(&all)
		s, err := Resolve(all)
		if err != nil {
			t.Fatal(err)
		}
		if s.FullPrompt != step.full || s.Quick.Prompt != step.quick || s.Quick.Limits.AnswerTokens != step.tokens {
			t.Errorf("%q, %q, %d; want %q, %q, %d", s.FullPrompt, s.Quick.Prompt, s.Quick.Limits.AnswerTokens, step.full, step.quick, step.tokens)
		}
		if got := explained(t, s, "quick.prompt"); !strings.Contains(got, step.layer) {
			t.Errorf("%s\nwant %s", got, step.layer)
		}
	}
}

// Decision 8, and spec.md C2: what is given at run time outranks the repository's file.
func TestTheStrongestLayerWins(t *testing.T) {
	in := Input{
		Given:      []Given{{Key: "model", Value: "flag-model", From: "--model"}},
		Env:        env("PRLOOP_MODEL", "env-model"),
		Repository: repo("version: 1\nmodel: repo-model\n"),
		Operator:   operator("model: operator-model\n"),
	}
	steps := []struct {
		name, model string
		layer       Layer
		source      string
		line        int
		remove      func()
	}{
		{"the command line beats all", "flag-model", LayerCommandLine, "--model", 0, func() { in.Given = nil }},
		{"the environment beats the repository's file", "env-model", LayerEnvironment, "$PRLOOP_MODEL", 0, func() { in.Env = nil }},
		{"the repository's file beats the operator's", "repo-model", LayerRepository, ".reviewerc", 2, func() { in.Repository = nil }},
		{"the operator's file beats the default", "operator-model", LayerOperator, "/home/op/prloop/config.yml", 1, func() { in.Operator = nil }},
		{"without layers the default holds", "gpt-4.1-mini", LayerDefault, "", 0, func() {}},
	}
	for _, step := range steps {
		s, err := Resolve(in)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		want := Setting{Key: "model", Value: step.model, Layer: step.layer, Source: step.source, Line: step.line}
		if d := cmp.Diff(want, setting(t, s, "model")); d != "" || s.Model != step.model {
			t.Errorf("%s: model is %q\n%s", step.name, s.Model, d)
		}
		step.remove()
	}
}
