package agents

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// TestScout: a scan is a whole and valid answer of a scout that ended well, or none.
func TestScout(t *testing.T) {
	t.Parallel()
	lgtm := `{"complexity":"simple","verdict":"lgtm","observations":[],"reasons":["Small."]}`
	for name, row := range map[string]struct {
		body    string
		state   review.AgentState
		verdict review.ScanVerdict
	}{
		"whole":               {"echo '" + lgtm + "'", review.AgentComplete, review.LooksGood},
		"whole, then a crash": {"echo '" + lgtm + "'; exit 3", review.AgentFailed, ""},
		"cut":                 {"echo '" + lgtm[:40] + "'", review.AgentFailed, ""},
		"two verdicts":        {"echo 'verdict: flag'; echo BEGIN_JSON; echo '" + lgtm + "'; echo END_JSON", review.AgentComplete, review.Flag},
		"the envelope of a reviewer": {`echo '{"agent":"sh","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}'`,
			review.AgentFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := script(t, "cat >/dev/null\n"+row.body+"\n")
			spec.Role = review.RoleScout
			a := Ask(t.Context(), spec, sampleTask(spec), nil)
			var verdict review.ScanVerdict
			if a.Scout != nil {
				verdict = a.Scout.Verdict
			}
			if a.Receipt.State != row.state || verdict != row.verdict || a.Reviewer != nil {
				t.Errorf("%s (%s) with %q, want %s with %q", a.Receipt.State, a.Receipt.Reason, verdict, row.state, row.verdict)
			}
		})
	}
}

func TestCheckScout(t *testing.T) {
	t.Parallel()
	good := fake(t, "ok")
	good.Role = review.RoleScout
	if p := Check(t.Context(), good); len(p) > 0 {
		t.Errorf("fakeagent is no valid scout: %+v", p)
	}
	bad := script(t, "cat >/dev/null\necho '{}'\n")
	bad.Role = review.RoleScout
	if p := Check(t.Context(), bad); len(p) == 0 {
		t.Error("an empty object passes as a scout's answer")
	}
}
