package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// What nobody sees speaks to no model, wherever it stands in the brief (threats.md T40); a program gets the bytes as they are.
func TestTheBriefHidesNothingFromPeople(t *testing.T) {
	const hidden = "\u202e"
	regions := []review.Region{{Start: 1, End: 1, Symbol: "f", Text: hidden + "\n"}}
	task := review.Task{Brief: review.Brief{
		Files:    []review.BriefFile{{Path: "a.go", Diff: hidden, Context: regions}},
		Related:  []review.RelatedFile{{Path: "b.go", Regions: []review.Region{{Start: 1, End: 1, Symbol: "uses " + hidden, Text: hidden + "\n"}}}},
		Guidance: []review.GuidanceFile{{Path: "AGENTS.md", Text: hidden}},
	}}
	task.Fix = &review.FixPayload{IssuesToFix: []review.Finding{{ID: "A", Assessment: &review.Assessment{Reason: hidden, Fact: &review.Fact{File: "a.go", Evidence: hidden}}}}}
	before := text(t, task)
	if got := text(t, visible(AgentPlan{Kind: review.KindBuiltin}, task)); strings.Contains(got, hidden) || !strings.Contains(got, "U+202E") {
		t.Errorf("a model is told %s", got)
	}
	if got := text(t, visible(AgentPlan{Kind: review.KindCommand}, task)); got != before || text(t, task) != before {
		t.Errorf("a program is told %s", got)
	}
}

// Reviewers of a later round are told which lines a fixer wrote, in the files they are shown.
func TestRewrittenLines(t *testing.T) {
	lines := []Written{{File: "b.go", From: 9, To: 9}, {File: "a.go", From: 7, To: 8}, {File: "left-out.go", From: 1, To: 1}, {File: "a.go", From: 2, To: 2}, {File: "elsewhere.go", From: 1, To: 1}}
	brief := review.Brief{Files: []review.BriefFile{{Path: "a.go"}, {Path: "b.go"}, {Path: "left-out.go", Omitted: "excluded"}}}
	want := []review.Rewritten{{File: "a.go", From: 2, To: 2}, {File: "a.go", From: 7, To: 8}, {File: "b.go", From: 9, To: 9}}
	if got := rewrittenIn(lines, brief); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
