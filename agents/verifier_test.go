package agents

import (
	"testing"

	"github.com/prloop/prloop/review"
)

// TestVerifier: only a whole and valid answer of a verifier that ended well says anything, and about nothing but what was asked.
func TestVerifier(t *testing.T) {
	t.Parallel()
	refuted := `{"findingId":"BUG-001","status":"refuted","reason":"no","fact":{"file":"rows.go","line":2,"evidence":"x"}}`
	answer := func(list string) string { return `{"agent":"sh","prNumber":1,"assessments":[` + list + `]}` }
	for name, row := range map[string]struct {
		body  string
		state review.AgentState
		says  int
	}{
		"whole":                {"echo '" + answer(refuted) + "'", review.AgentComplete, 1},
		"about something else": {"echo '" + answer(`{"findingId":"X","status":"refuted"}`) + "'", review.AgentComplete, 0},
		"silent":               {"echo '" + answer("") + "'", review.AgentComplete, 0},
		"whole, then a crash":  {"echo '" + answer(refuted) + "'; exit 3", review.AgentFailed, 0},
		"cut":                  {"echo '" + answer(refuted)[:60] + "'", review.AgentFailed, 0},
		"the envelope of a reviewer": {`echo '{"agent":"sh","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}'`,
			review.AgentFailed, 0},
		"one of its two is broken": {"echo '" + answer(refuted+`,{"findingId":"BUG-002"}`) + "'", review.AgentFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := script(t, "cat >/dev/null\n"+row.body+"\n")
			spec.Role = review.RoleVerifier
			a := Ask(t.Context(), spec, sampleTask(spec), nil)
			says := 0
			if a.Verifier != nil {
				says = len(a.Verifier.Assessments)
			}
			if a.Receipt.State != row.state || says != row.says || a.Receipt.Findings != row.says || a.Reviewer != nil {
				t.Errorf("%s (%s) with %d assessments, want %s with %d", a.Receipt.State, a.Receipt.Reason, says, row.state, row.says)
			}
			if row.state == review.AgentComplete && (a.Verifier.Agent != spec.Name || a.Verifier.PRNumber != 7) {
				t.Errorf("it calls itself %s and speaks of pull request %d", a.Verifier.Agent, a.Verifier.PRNumber)
			}
		})
	}
}

func TestCheckVerifier(t *testing.T) {
	t.Parallel()
	good := fake(t, "ok")
	good.Role = review.RoleVerifier
	if p := Check(t.Context(), good); len(p) > 0 {
		t.Errorf("fakeagent is no valid verifier: %+v", p)
	}
	bad := script(t, "cat >/dev/null\necho '{}'\n")
	bad.Role = review.RoleVerifier
	if p := Check(t.Context(), bad); len(p) == 0 {
		t.Error("an empty object passes as a verifier's answer")
	}
}
