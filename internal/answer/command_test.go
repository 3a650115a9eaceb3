package answer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/review"
)

const aCommandAnswer = `{"summary":"Two gaps.","findings":[
 {"title":"Tokens are logged","severity":"critical","location":{"file":"auth.go","line":12},"details":"Each login writes its token.","suggestion":"Leave it out.","evidence":"log.Print(token)"},
 {"title":"No limit","severity":"medium","location":"api/list.go:7-9","details":"Anybody can ask for all rows."},
 {"title":"No owner","severity":"low","details":"Nobody is named."}],
 "notes":["The tests were not read."],"confidence":"high"}`

func TestDecodeCommand(t *testing.T) {
	twelve, seven, nine := 12, 7, 9
	got, notes, err := DecodeCommand([]byte(aCommandAnswer))
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	want := review.CommandAnswer{Summary: "Two gaps.", Notes: []string{"The tests were not read."}, Confidence: review.HighConfidence, Findings: []review.Finding{
		{ID: "CMD-001", Priority: review.P0, Category: CommandCategory, File: "auth.go", Line: &twelve, Title: "Tokens are logged", Description: "Each login writes its token.", Suggestion: "Leave it out.", Evidence: "log.Print(token)"},
		{ID: "CMD-002", Priority: review.P2, Category: CommandCategory, File: "api/list.go", Line: &seven, LineEnd: &nine, Title: "No limit", Description: "Anybody can ask for all rows."},
		{ID: "CMD-003", Priority: review.P3, Category: CommandCategory, Title: "No owner", Description: "Nobody is named."},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	again := CommandResult(got)
	if again.Findings[0].Severity != "critical" || again.Findings[2].Location != nil || *again.Findings[1].Location.LineEnd != 9 {
		t.Errorf("%+v", again)
	}
}

func TestDecodeCommandRefuses(t *testing.T) {
	for name, doc := range map[string]string{
		"a priority for a severity":      `{"summary":"","confidence":"low","findings":[{"title":"A","severity":"P1","details":""}]}`,
		"another word of confidence":     `{"summary":"","confidence":"sure","findings":[]}`,
		"no findings":                    `{"summary":"","confidence":"low"}`,
		"no summary":                     `{"confidence":"low","findings":[]}`,
		"a file outside the repository":  `{"summary":"","confidence":"low","findings":[{"title":"A","severity":"low","details":"","location":"../../etc/passwd:1"}]}`,
		"a wish outside the repository":  `{"summary":"","confidence":"low","findings":[],"wishes":[{"kind":"comment","body":"x","location":{"file":"/etc/passwd"}}]}`,
		"a wish that is none":            `{"summary":"","confidence":"low","findings":[],"wishes":[{"kind":"merge","body":"x"}]}`,
		"a wish that says nothing":       `{"summary":"","confidence":"low","findings":[],"wishes":[{"kind":"comment","body":""}]}`,
		"a finding without a title":      `{"summary":"","confidence":"low","findings":[{"title":"","severity":"low","details":""}]}`,
		"a reviewer's answer":            `{"agent":"a","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[]}`,
		"a location that is a number":    `{"summary":"","confidence":"low","findings":[{"title":"A","severity":"low","details":"","location":12}]}`,
		"two documents":                  aCommandAnswer + aCommandAnswer,
		"the same key twice":             `{"summary":"","summary":"","confidence":"low","findings":[]}`,
		"a severity in capitals is none": `{"summary":"","confidence":"low","findings":[{"title":"A","severity":"HIGH","details":""}]}`,
	} {
		if a, _, err := DecodeCommand([]byte(doc)); err == nil {
			t.Errorf("%s: taken as %+v", name, a)
		}
	}
}

// A broken answer is not silence (decision 34): what it may have said leaves its place, and nothing of it is complete.
func TestCommandIsNotSilenced(t *testing.T) {
	q := Question{Task: review.Task{Role: review.RoleCommand, Agent: "security", PRNumber: 7}, Kind: review.KindCommand}
	has := func(a review.Answer, title string, aside bool) bool {
		return a.Command != nil && slices.ContainsFunc(a.Command.Findings, func(f review.Finding) bool {
			return strings.Contains(f.Title, title) && (f.Unconfirmed != "") == aside && f.Source.Name == "security"
		})
	}
	cut := aCommandAnswer[:strings.Index(aCommandAnswer, `"notes"`)]
	a := q.Settle(Said{Others: [][]byte{[]byte(cut)}, Ended: true, Why: "invalid answer", Attempts: 2})
	if a.Receipt.State != review.AgentDegraded || a.Receipt.Findings != 3 || !has(a, "Tokens are logged", false) || a.Command.Confidence != review.LowConfidence {
		t.Errorf("of a cut answer: %+v %+v", a.Receipt, a.Command)
	}
	a = q.Settle(Said{Others: [][]byte{[]byte("I found one critical problem in auth.go.")}, Ended: true, Why: "invalid answer", Attempts: 2})
	if a.Receipt.State != review.AgentDegraded || !has(a, "could not be read", true) {
		t.Errorf("of prose: %+v %+v", a.Receipt, a.Command)
	}
	env, _, err := q.Read([]byte(`{"summary":"Fine.","confidence":"high","findings":[]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	a = q.Settle(Said{Valid: &env, Others: [][]byte{[]byte(cut)}, Ended: true, Attempts: 2})
	if a.Receipt.State != review.AgentComplete || !has(a, "Tokens are logged", true) {
		t.Errorf("of a corrected answer: %+v %+v", a.Receipt, a.Command)
	}
	for name, doc := range map[string]string{
		"an unknown field":    `{"summary":"Fine.","confidence":"high","findings":[],"blockers":["the token is logged"]}`,
		"an unknown priority": `{"summary":"Fine.","confidence":"high","findings":[{"title":"A","severity":"low","details":"","priority":"P0"}]}`,
		"a title":             `{"summary":"Fine.","confidence":"high","findings":[{"title":"[CRITICAL] the token is logged","severity":"low","details":""}]}`,
	} {
		env, _, err := q.Read([]byte(doc), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if a := q.Settle(Said{Valid: &env, Ended: true, Attempts: 1}); !has(a, "could not be read", true) {
			t.Errorf("%s: %+v", name, a.Command)
		}
	}
}
