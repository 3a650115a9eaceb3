package orchestrator

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/dismissals"
	"github.com/prloop/prloop/internal/identity"
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
	raw := "@@ -1 +1 @@\n-dial(\"" + value + "\")\n+dial(\"[REDACTED]\")\n"
	if len(masks.Overwriting([]string{raw}, []string{l.Learned.MaskDiff(raw, nil)})) == 0 {
		t.Error("a fix writes a mask over it")
	}
}

// What stands behind a command is told to its agent, and stored with the round, without what the change tells to be a secret (threats.md T814).
func TestLearnedBehindACommand(t *testing.T) {
	const value = "q7Rz2Lm9Xc4Vb8Nt1Wk6"
	s := newStage()
	s.brief = changed("settings.env")
	s.brief.Diff = "diff --git a/settings.env b/settings.env\n--- a/settings.env\n+++ b/settings.env\n@@ -0,0 +1 @@\n+API_TOKEN=" + value + "\n"
	s.learned = &sanitize.Learned{}
	steps := newSteps()
	s.run(t, steps, func(r *Request) {
		plan := &CommandPlan{ID: "peek", Mode: review.SeparateComment, Args: "is " + value + " ours?", Argv: []string{"is", value, "ours?"}}
		r.Fix, r.Alone, r.Agents = nil, true, []AgentPlan{{Name: "!peek", Role: review.RoleCommand, Kind: review.KindCommand, Command: plan}}
	})
	if told := s.kept["round-1/!peek.request.json"]; !strings.Contains(told, `"args": "is [REDACTED] ours?"`) && !strings.Contains(told, `"args":"is [REDACTED] ours?"`) {
		t.Errorf("it is told %s", told)
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
}

// The commits of a round are no secrets, whatever a change says of them: reports have them, and are read again (threats.md T745).
func TestCommitsAreNotLearned(t *testing.T) {
	ids := make([]string, 6)
	for i := range ids {
		ids[i] = fmt.Sprintf("%x", sha1.Sum([]byte{byte(i)}))
	}
	snap := Snapshot{Range: Range{Base: ids[0], MergeBase: ids[1], Head: ids[2]}, PR: review.PullRequest{BaseSHA: ids[3], HeadSHA: ids[4]}}
	diff := "diff --git a/a.env b/a.env\n--- a/a.env\n+++ b/a.env\n@@ -0,0 +1,11 @@\n+TOKEN=q7Rz2Lm9Xc4Vb8Nt1Wk6\n"
	for _, id := range ids[:5] {
		diff += "+postgres://ci:" + id + "@localhost/x\n+postgres://ci:" + id[:24] + "@localhost/x\n"
	}
	snap.Brief = review.Brief{Files: []review.BriefFile{{Path: "a.env", Diff: diff}}}
	why := "It is " + ids[5] + " and q7Rz2Lm9Xc4Vb8Nt1Wk6."
	snap.Dismissals = &Dismissals{List: []dismissals.Dismissal{{Why: why, Code: &dismissals.Code{Text: why}}, {Mark: &identity.Mark{Title: why}}}, Notes: []string{why}}
	known := &sanitize.Learned{}
	got, err := masked(t.Context(), snap, nil, known)
	if err != nil || !slices.Equal(known.Values(), []string{"q7Rz2Lm9Xc4Vb8Nt1Wk6"}) {
		t.Errorf("learned %q, %v", known.Values(), err)
	}
	for _, said := range []string{got.Dismissals.List[0].Why, got.Dismissals.List[0].Code.Text, got.Dismissals.List[1].Mark.Title, got.Dismissals.Notes[0]} {
		if want := "It is " + ids[5] + " and [REDACTED]."; said != want {
			t.Errorf("a dismissal says %q, want %q", said, want)
		}
	}
	if snap.Dismissals.List[1].Mark.Title != why {
		t.Error("what was read is changed")
	}
}
