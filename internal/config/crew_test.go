package config

import (
	"strings"
	"testing"
)

func TestCrews(t *testing.T) {
	operator := &File{Name: "config.yml", Data: []byte(`crews:
  - name: day
    reviewers: [{name: a, use: builtin, model: m1}, {name: b, use: command, path: reviewit}]
    min_reviewers: 2
    effort: light
  - name: night
    verifier: off
`)}
	in := Input{Operator: operator, Policy: rowOf(t, "crew=day"), Repository: &File{Name: ".reviewerc", Data: []byte("reviewers: [{name: c, use: static}]\neffort: thorough\n")},
		Env: func(name string) string { return map[string]string{"OPENAI_API_KEY": "k"}[name] }}
	s, err := Resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Reviewers) != 2 || s.Reviewers[1].Path != "reviewit" || s.MinReviewers != 2 || s.Effort != "light" {
		t.Errorf("%+v, %d, %s", s.Reviewers, s.MinReviewers, s.Effort)
	}
	in.Policy = rowOf(t, "crew=dya")
	if _, err := Resolve(in); err == nil || !strings.Contains(err.Error(), `the operator's file has no crew "dya" (known: day, night); did you mean "day"?`) {
		t.Errorf("an unknown crew: %v", err)
	}
	if err := CheckPolicy(operator, in.Policy.Columns); err == nil || !strings.Contains(err.Error(), `crew: the operator's file has no crew "dya"`) {
		t.Errorf("an unknown crew in a row: %v", err)
	}
	for bad, want := range map[string]string{
		"crews: [{name: a}, {name: a}]\n":                                     `"a" is used twice`,
		"crews: [{name: a, reviewers: [{name: x, use: static, model: m}]}]\n": "has no meaning with use: static",
		"crews: [{name: a, base_url: \"https://x\"}]\n":                       "unknown key",
		"crews: [{name: a, quick: {budget_tokens: 5000}}]\n":                  "unknown key",
		"crews: [{name: a, full: {prompt: \"\"}}]\n":                          "is empty",
		"crews: [{name: a, min_reviewers: 9}]\n":                              "must be at most 5",
		"crew: nobody\n":                                                      `no crew "nobody"`,
	} {
		if _, err := Resolve(Input{Operator: &File{Name: "config.yml", Data: []byte(bad)}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", bad, err, want)
		}
	}
	if _, err := Resolve(Input{Repository: &File{Name: ".reviewerc", Data: []byte("crew: day\n")}}); err == nil {
		t.Error("a repository's file chose a crew")
	}
}
