package answer

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

// A reviewer's verdicts are on what it was shown, one for each finding, and of two the less favourable.
func TestEarlierVerdicts(t *testing.T) {
	q := Question{Kind: review.KindBuiltin, Task: review.Task{Agent: "a", Role: review.RoleReviewer, Earlier: []review.Finding{{ID: "F1"}, {ID: "F2"}}}}
	const doc = `{"agent":"a","prNumber":0,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":"",
		"earlier":[{"findingId":"F1","verdict":"unsure"},{"findingId":"F9","verdict":"remains"},{"findingId":"F1","verdict":"remains","why":"b"},{"findingId":"F1","verdict":"fixed"},{"findingId":"F2","verdict":"fixed"}]}`
	e, notes, err := q.Read([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := e.Reviewer.Earlier
	if len(got) != 2 || got[0] != (review.EarlierVerdict{FindingID: "F1", Verdict: review.EarlierRemains, Why: "b"}) || got[1].Verdict != review.EarlierFixed {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(strings.Join(notes, " "), `"F9" is no finding it was shown`) {
		t.Errorf("%q", notes)
	}
	if _, _, err := q.Read([]byte(strings.Replace(doc, `"fixed"`, `"gone"`, 1)), nil); err == nil || !strings.Contains(err.Error(), "verdict") {
		t.Error(err)
	}
}
