package config

import (
	"slices"
	"testing"

	"github.com/prloop/prloop/review"
)

func TestEffort(t *testing.T) {
	model := func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }
	given := func(pairs ...string) (all []Given) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, Given{Key: pairs[i], Value: pairs[i+1], From: "--x"})
		}
		return all
	}
	for _, c := range []struct {
		rule      string
		in        Input
		reviewers []string
		verifier  string
		calls     int
		needed    int
	}{
		{"standard is the default", Input{Env: model}, []string{"reviewer-1", "static"}, review.KindBuiltin, 2, 1},
		{"light verifies nothing", Input{Env: model, Given: given("effort", "light")}, []string{"reviewer-1", "static"}, UseNone, 2, 1},
		{"thorough has two who read in passes", Input{Env: model, Given: given("effort", "thorough")}, []string{"reviewer-1", "reviewer-2", "static"}, review.KindBuiltin, 10, 2},
		{"what is set stands", Input{Env: model, Given: given("effort", "thorough", "limits.max_llm_calls", "6")}, []string{"reviewer-1", "reviewer-2", "static"}, review.KindBuiltin, 6, 2},
		{"reviewers that are chosen stay", Input{Env: model, Given: given("effort", "thorough"), Reviewers: []string{"builtin"}}, []string{"builtin"}, review.KindBuiltin, 10, 1},
		{
			"a verifier that is named verifies a light review",
			Input{Env: model, Given: given("effort", "light"), Operator: &File{Name: "o", Data: []byte("verifier: {use: builtin}\n")}},
			[]string{"reviewer-1", "static"}, review.KindBuiltin, 2, 1,
		},
		{"no effort brings a model", Input{Given: given("effort", "thorough")}, []string{"static"}, UseNone, 10, 1},
	} {
		s, err := Resolve(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		var names []string
		for _, a := range s.Reviewers {
			names = append(names, a.Name)
		}
		if !slices.Equal(names, c.reviewers) || s.Verifier.Use != c.verifier || s.Limits.LLMCalls != c.calls || s.MinReviewers != c.needed {
			t.Errorf("%s: %v, verifier %s, %d calls, %d needed", c.rule, names, s.Verifier.Use, s.Limits.LLMCalls, s.MinReviewers)
		}
	}
	s, err := Resolve(Input{Env: model, Given: given("effort", "thorough")})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range s.Explain() {
		if x.Key == "limits.max_llm_calls" && (x.Layer != LayerDefault || x.Note != "effort thorough") {
			t.Errorf("it is not said why: %s", x)
		}
	}
}
