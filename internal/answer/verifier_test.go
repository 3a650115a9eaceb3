package answer

import (
	"strings"
	"testing"

	"github.com/prloop/prloop/review"
)

func TestDecodeVerifier(t *testing.T) {
	answer := func(assessments string) string {
		return `{"agent":"v","prNumber":7,"assessments":[` + assessments + `]}`
	}
	for _, row := range []struct{ name, in, refused string }{
		{"one that names only what is needed", answer(`{"findingId":"A","status":"plausible"}`), ""},
		{"unknown figures are null", answer(`{"findingId":"A","status":"refuted","reason":"no","fact":{"file":"a.go","line":null,"evidence":"x()"},"duplicateOf":null,"introduced":null,"probability":null,"importance":null}`), ""},
		{"a finding assessed twice", answer(`{"findingId":"A","status":"refuted"},{"findingId":"A","status":"confirmed"}`), "assessed twice"},
		{"a status nobody knows", answer(`{"findingId":"A","status":"wrong"}`), "status"},
		{"a probability above one", answer(`{"findingId":"A","status":"plausible","probability":70}`), "probability"},
		{"a fact outside of the repository", answer(`{"findingId":"A","status":"refuted","fact":{"file":"../a.go","evidence":"x"}}`), "inside the repository"},
		{"a fact without a quote", answer(`{"findingId":"A","status":"refuted","fact":{"file":"a.go","evidence":""}}`), "evidence"},
		{"no list", `{"agent":"v","prNumber":7}`, "assessments"},
		{"a key in another case", answer(`{"findingId":"A","Status":"refuted"}`), "case-sensitive"},
	} {
		_, _, err := DecodeVerifier([]byte(row.in))
		if row.refused == "" && err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if row.refused != "" && (err == nil || !strings.Contains(err.Error(), row.refused)) {
			t.Errorf("%s: error %v, want one with %q", row.name, err, row.refused)
		}
	}
}

func TestSettleVerifier(t *testing.T) {
	p := review.VerifyPayload{Findings: []review.Finding{{ID: "A"}, {ID: "B"}, {ID: "C"}}}
	r := review.VerifierResult{Assessments: []review.Assessment{
		{FindingID: "A", Status: review.Duplicate, DuplicateOf: "A"},
		{FindingID: "B", Status: review.Duplicate, DuplicateOf: "C"},
		{FindingID: "C", Status: review.Duplicate, DuplicateOf: "Z"},
		{FindingID: "Z", Status: review.Refuted},
	}}
	notes := SettleVerifier(p, &r)
	if len(r.Assessments) != 3 || len(notes) != 3 {
		t.Fatalf("kept %+v, notes %q", r.Assessments, notes)
	}
	for i, want := range []review.AssessmentStatus{review.Plausible, review.Duplicate, review.Plausible} {
		if a := r.Assessments[i]; a.Status != want || (a.DuplicateOf != "") != (want == review.Duplicate) {
			t.Errorf("%s is %s of %q, want %s", a.FindingID, a.Status, a.DuplicateOf, want)
		}
	}
}

// What an agent claims the verifier said of its finding is dropped: a finding would confirm itself.
func TestNobodyAssessesItself(t *testing.T) {
	r, notes, err := DecodeReviewer([]byte(`{"agent":"r","prNumber":7,"conclusion":"request_changes","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":1,"p3_suggestion":0},
		"findings":[{"id":"A","priority":"P2","category":"bug","file":"a.go","title":"t","description":"d","assessment":{"findingId":"A","status":"confirmed","reason":"sure"}}]}`))
	if err != nil || r.Findings[0].Assessment != nil || !strings.Contains(strings.Join(notes, "\n"), "assessment") {
		t.Errorf("%+v, notes %q, %v", r.Findings, notes, err)
	}
}
