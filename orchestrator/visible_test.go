package orchestrator

import (
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
	before := text(t, task)
	if got := text(t, visible(AgentPlan{Kind: review.KindBuiltin}, task)); strings.Contains(got, hidden) || !strings.Contains(got, "U+202E") {
		t.Errorf("a model is told %s", got)
	}
	if got := text(t, visible(AgentPlan{Kind: review.KindCommand}, task)); got != before || text(t, task) != before {
		t.Errorf("a program is told %s", got)
	}
}
