// Package answertest says what is true of every answer, whoever asked for it.
package answertest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/review"
)

// Want is what has to come of a question.
type Want struct {
	State    review.AgentState
	Attempts int
	Findings int
	// Reason is a part of the reason, Note of the notes.
	Reason, Note string
	// AtMost is how long it may take; 0 means that it does not matter.
	AtMost time.Duration
}

// Check holds an answer to it, and to what is true of every answer to an agent of that name about pull request 7.
func (w Want) Check(t testing.TB, a review.Answer, name string) {
	t.Helper()
	r := a.Receipt
	if r.State != w.State || r.Attempts != w.Attempts || r.Findings != w.Findings || !strings.Contains(r.Whole(), w.Reason) {
		t.Errorf("%s, %d attempts, %d findings, reason %q; notes %q; log %s", r.State, r.Attempts, r.Findings, r.Whole(), r.Notes, a.Log)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), w.Note) {
		t.Errorf("no note %q in %q", w.Note, r.Notes)
	}
	if took := time.Duration(r.Seconds * float64(time.Second)); took <= 0 || w.AtMost > 0 && took > w.AtMost {
		t.Errorf("took %s", took)
	}
	Check(t, a, name)
}

// Check holds what is true of every answer to an agent of that name about pull request 7: prloop names the finder and counts, nothing but
// a complete answer approves, and the whole survives being stored as JSON.
func Check(t testing.TB, a review.Answer, name string) {
	t.Helper()
	var findings []review.Finding
	switch {
	case a.Reviewer != nil:
		v := a.Reviewer
		if findings = v.Findings; v.Agent != name || v.PRNumber != 7 || v.Issues != review.Count(findings) {
			t.Errorf("%+v", v)
		}
		if a.Receipt.State == review.AgentDegraded && v.Conclusion == review.Approve {
			t.Error("a degraded answer approves")
		}
	case a.Comments != nil:
		c := a.Comments
		if findings = c.PendingIssues; c.Agent != name || c.PRNumber != 7 || c.Issues != review.Count(findings) {
			t.Errorf("%+v", c)
		}
	case a.Fix == nil && a.Verifier == nil && a.Receipt.State != review.AgentFailed:
		t.Errorf("%s without an answer", a.Receipt.State)
	}
	for _, f := range findings {
		if f.Source.Name != name || f.Source.Type != "agent" || f.Source.ReviewID != nil {
			t.Errorf("source %+v", f.Source)
		}
	}
	if a.Receipt.Findings != len(findings) || (a.Receipt.State == review.AgentComplete) != (a.Receipt.Reason == "") {
		t.Errorf("%d findings, %+v", len(findings), a.Receipt)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back review.Answer
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(a.Receipt, back.Receipt) {
		t.Errorf("the answer does not survive JSON: %v", err)
	}
}
