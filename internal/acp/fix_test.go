package acp

import (
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// fixQuestion asks for two findings to be fixed.
func fixQuestion() review.Task {
	t := question()
	t.Role = review.RoleFixer
	t.Fix = &review.FixPayload{PRNumber: 7, Round: 1, IssuesToFix: []review.Finding{{ID: "F-1", Priority: review.P1, File: "rows.go"}, {ID: "F-2", Priority: review.P2, File: "rows.go"}}}
	return t
}

func fixerSpec(t *testing.T, mode string) Spec {
	t.Helper()
	s := actorSpec(t, mode)
	s.Role, s.Cwd = review.RoleFixer, t.TempDir()
	writeTree(t, s.Cwd, map[string]string{"rows.go": "package rows\n"})
	return s
}

func TestFix(t *testing.T) {
	t.Parallel()
	short := func(s Spec) Spec { s.Timeout = 1500 * time.Millisecond; return s }
	type want struct {
		state           review.AgentState
		turns           int
		fixed, rejected int
		reason, note    string
	}
	for name, row := range map[string]struct {
		spec Spec
		want want
	}{
		"every finding is answered for":                   {fixerSpec(t, "fix"), want{review.AgentComplete, 1, 2, 0, "", ""}},
		"one that is forgotten is asked for (spec.md A5)": {fixerSpec(t, "fix-forgets"), want{review.AgentComplete, 1, 2, 0, "", `"F-9" was not asked for`}},
		"one that stays forgotten is not fixed (3.5)":     {fixerSpec(t, "fix-partly"), want{review.AgentDegraded, 2, 1, 1, "neither fixed nor rejected: F-2", `nothing is said about "F-2"`}},
		"a result in the text is a fallback, and noted":   {fixerSpec(t, "fix-text"), want{review.AgentComplete, 1, 2, 0, "", "stood in the text"}},
		"a result, then a hang: the tree tells the truth": {short(fixerSpec(t, "fix-hang")), want{review.AgentDegraded, 1, 2, 0, "valid answer, but the agent process failed: stopped: out of time", ""}},
		"no answer is none":                               {fixerSpec(t, "silent"), want{review.AgentFailed, 2, 0, 0, "without text", ""}},
		"an answer of another role is none":               {fixerSpec(t, "ok"), want{review.AgentFailed, 2, 0, 0, "decode fix-result", ""}},
		"a preset that only reviews": {func() Spec {
			s := fixerSpec(t, "fix")
			s.Preset, _ = Find("copilot")
			return s
		}(), want{review.AgentFailed, 0, 0, 0, "copilot only reviews", ""}},
		"a fixer without a tree": {func() Spec { s := fixerSpec(t, "fix"); s.Cwd = ""; return s }(), want{review.AgentFailed, 0, 0, 0, "needs a tree", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			a := Ask(t.Context(), row.spec, fixQuestion(), "fix this", nil)
			r, w := a.Receipt, row.want
			if r.State != w.state || r.Attempts != w.turns || !strings.Contains(r.Whole(), w.reason) || !strings.Contains(strings.Join(r.Notes, "\n"), w.note) {
				t.Errorf("%s, %d turns, reason %q; notes %q; log %s", r.State, r.Attempts, r.Whole(), r.Notes, a.Log)
			}
			if (a.Fix == nil) != (w.fixed+w.rejected == 0) || a.Reviewer != nil {
				t.Fatalf("%+v %+v", a.Fix, a.Reviewer)
			}
			if f := a.Fix; f != nil && (len(f.FixedIssues) != w.fixed || len(f.RejectedIssues) != w.rejected || f.Summary.Fixed != w.fixed || f.Agent != "rev-1") {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestAFixerEditsItsTreeAlone(t *testing.T) {
	t.Parallel()
	spec := fixerSpec(t, "fix-permissions")
	a := Ask(t.Context(), spec, fixQuestion(), "fix this", nil)
	const want = "inside=yes new=yes relative=yes outside=no above=no both=no link=no dangling=no git=no unknown=no shell=no"
	if a.Fix == nil || a.Fix.FixedIssues[0].Description != want {
		t.Errorf("%+v\nwant %s\n%+v", a.Fix, want, a.Receipt)
	}
	spec = fixerSpec(t, "fix")
	if Ask(t.Context(), spec, fixQuestion(), "fix this", nil); !strings.Contains(listing(t, spec.Cwd), "fixed") {
		t.Error("the tree it was given is not the one it works in")
	}
}
