package orchestrator

import (
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/masks"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What the change tells to be a secret is in nothing that an agent says, no process stores it, and one that goes on with the run learns it anew.
func TestLearned(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	s := newStage()
	s.brief = changed("settings.env")
	s.brief.Diff = "diff --git a/settings.env b/settings.env\n--- a/settings.env\n+++ b/settings.env\n@@ -0,0 +1 @@\n+API_TOKEN=" + value + "\n"
	told := at(review.P1, 10, "F", leak)
	told.Description = "It dials with " + value + "."
	s.says[sha(1)] = map[string][]review.Finding{"alpha": {told}}
	steps := newSteps()
	for _, what := range []string{"the first process", "one that goes on"} {
		known := &sanitize.Learned{}
		s.learned = known
		got := s.run(t, steps, func(r *Request) { r.Fix = nil })
		if !slices.Equal(known.Values(), []string{value}) {
			t.Errorf("%s learned %q", what, known.Values())
		}
		if len(got.Findings) != 1 || got.Findings[0].Description != "It dials with [REDACTED]." {
			t.Errorf("%s found %+v", what, got.Findings)
		}
	}
	for name, data := range s.kept {
		if strings.Contains(data, value) {
			t.Errorf("it stands in %s:\n%s", name, data)
		}
	}
	for name, data := range steps.done {
		if strings.Contains(string(data), value) {
			t.Errorf("it stands in the step %q", name)
		}
	}
	l := &Loop{Learned: s.learned}
	work := review.FixWork{Notes: []string{"kept " + value}, Commits: []review.FixCommit{{Message: "Use " + value}}}
	redactWork(&work, l.Learned)
	if said := work.Notes[0] + work.Commits[0].Message; strings.Contains(said, value) {
		t.Errorf("a fixer says %q", said)
	}
	if !masks.Overwrites("@@ -1 +1 @@\n-dial(\""+value+"\")\n+dial(\"[REDACTED]\")\n", nil, l.Learned) {
		t.Error("a fix writes a mask over it")
	}
}
