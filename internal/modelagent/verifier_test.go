package modelagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// assess is a verifier's answer: ids with a status each.
func assess(pairs ...string) fakemodel.Answer {
	list := []m{}
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, m{"findingId": pairs[i], "status": pairs[i+1], "reason": "r", "fact": m{"file": "a.go", "line": 1, "evidence": "b"}, "duplicateOf": nil,
			"introduced": true, "probability": 0.5, "importance": 50})
	}
	b, _ := json.Marshal(m{"agent": "v", "prNumber": 7, "assessments": list, "fullReport": "Looked."})
	return fakemodel.Answer{JSON: b}
}

func toVerify(limits review.Limits) review.Task {
	tk := task()
	low, high := 0.4, 0.9
	tk.Role, tk.Limits, tk.Workspace = review.RoleVerifier, limits, &review.Workspace{Tree: "/tree"}
	tk.Verify = &review.VerifyPayload{StrongerBelow: 0.6, LookBelow: 0.65, ExtraFiles: 2, ExtraLines: 200, Findings: []review.Finding{
		{ID: "A", Priority: review.P1, File: "a.go", Evidence: "b", Confidence: &low}, {ID: "B", Priority: review.P1, File: "a.go", Evidence: "b", Confidence: &high},
		{ID: "C", Priority: review.P2, File: "a.go", Evidence: "b", Confidence: &low},
	}}
	return tk
}

func TestVerify(t *testing.T) {
	read := fakemodel.ToolCall{Name: "read_file", Arguments: `{"path":"b.go"}`}
	ends := fakemodel.Rule{Contains: "No tool can be called any more", Last: true, Answer: assess("A", "refuted", "B", "confirmed", "C", "plausible")}
	want := []string{"A refuted", "B confirmed", "C plausible"}
	big := review.Limits{LLMCalls: 6, ToolCalls: 3}
	for _, c := range []struct {
		rule        string
		limits      review.Limits
		rules       []fakemodel.Rule
		want        []string
		models      []string
		used        int
		warns, told string
	}{
		{"the model looks around, says that it is done, and is asked for the answer", big,
			[]fakemodel.Rule{ends, {Call: 1, Answer: calls(read, read)}, {Call: 2, Answer: fakemodel.Answer{Text: "I have seen enough."}}}, want, []string{DefaultModel, DefaultModel, DefaultModel}, 2, "", "what stands there"},
		{"an answer that comes unasked is one", big, []fakemodel.Rule{{Answer: assess("A", "refuted", "B", "confirmed", "C", "plausible")}}, want, []string{DefaultModel}, 0, "", ""},
		{"a loop on tools ends at the calls kept for the answer", big, []fakemodel.Rule{ends, {Answer: calls(read)}}, want, []string{DefaultModel, DefaultModel, DefaultModel, DefaultModel}, 3, "", ""},
		{"without room for tools there is one question", review.Limits{LLMCalls: 2, ToolCalls: 3}, []fakemodel.Rule{{Answer: assess("A", "refuted")}}, []string{"A refuted"}, []string{DefaultModel}, 0, "", "You have no tools"},
		{"an endpoint without tools gets one question", big, []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Status: 400, Message: "tools is not supported"}}, {Answer: assess("A", "refuted")}},
			[]string{"A refuted"}, []string{DefaultModel, DefaultModel}, 0, "", "You have no tools"},
		{"a broken answer is repaired once", big, []fakemodel.Rule{{Contains: "was not accepted", Last: true, Answer: assess("A", "refuted")}, {Call: 1, Answer: fakemodel.Answer{Text: "done"}}, {Answer: assess("A", "refuted", "A", "confirmed")}},
			[]string{"A refuted"}, []string{DefaultModel, DefaultModel, DefaultModel}, 0, "", ""},
		{"a severe finding that stays doubtful goes to the stronger model, and nothing else (spec.md R4)", big,
			[]fakemodel.Rule{{Model: DefaultStronger, Answer: assess("A", "confirmed", "B", "refuted")}, {Answer: assess("A", "plausible", "B", "plausible", "C", "plausible")}},
			[]string{"B plausible", "C plausible", "A confirmed"}, []string{DefaultModel, DefaultStronger}, 0, "", ""},
		{"a stronger model that fails changes nothing", big, []fakemodel.Rule{{Model: DefaultStronger, Answer: fakemodel.Answer{Status: 404, Message: "no such model"}}, {Answer: assess("A", "plausible")}},
			[]string{"A plausible"}, []string{DefaultModel, DefaultStronger}, 0, "with low confidence: HTTP 404", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: c.rules}, c.limits)
			box := &shelf{}
			r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return box, nil }
			got, err := Verify(t.Context(), toVerify(c.limits), r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, a := range got.Assessments {
				said = append(said, fmt.Sprint(a.FindingID, " ", a.Status))
			}
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Error(diff)
			}
			var models, warned, told []string
			all := r.model.Requests()
			for _, q := range all {
				models = append(models, q.Model)
			}
			if diff := cmp.Diff(c.models, models); diff != "" {
				t.Error(diff)
			}
			for _, e := range r.events {
				switch e.Level {
				case "warn":
					warned = append(warned, e.Message)
				case "error":
					told = append(told, e.Message)
				}
			}
			if strings.Contains(strings.Join(warned, "\n"), "no such model") || c.warns != "" && !strings.Contains(strings.Join(told, "\n"), "no such model") {
				t.Errorf("what the endpoint says is for the operator alone: reports have %q, the operator %q", warned, told)
			}
			if !strings.Contains(strings.Join(warned, "\n"), c.warns) || c.warns == "" && warned != nil {
				t.Errorf("warnings %q, want %q", warned, c.warns)
			}
			if len(box.calls) != c.used || box.expanded != "[a.go] 6 200" {
				t.Errorf("%d tool calls, want %d; caps %s", len(box.calls), c.used, box.expanded)
			}
			if !strings.Contains(fmt.Sprint(all[len(all)-1].Messages), c.told) {
				t.Errorf("the model was not told %q", c.told)
			}
			if f := r.model.Faults(); len(f) != 0 {
				t.Errorf("the endpoint refused: %v", f)
			}
		})
	}
}

// The verifier shares the beginning of its prompt with the reviewers, so that a provider's cache hits.
func TestVerifierSharesThePrompt(t *testing.T) {
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Contains: "the verifier:", Answer: assess("A", "plausible")}, {Answer: respond()}}}, review.Limits{})
	if _, err := Review(t.Context(), task(), r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), toVerify(review.Limits{}), r.options, r.emit); err != nil {
		t.Fatal(err)
	}
	all := r.model.Requests()
	for i := range 2 {
		if all[0].Messages[i] != all[1].Messages[i] {
			t.Errorf("message %d differs", i+1)
		}
	}
}

func TestVerifierIsNotAskedForNothing(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	tk := toVerify(review.Limits{})
	tk.Verify.Findings = nil
	if got, err := Verify(t.Context(), tk, r.options, r.emit); err != nil || got.Assessments == nil || len(r.model.Requests()) != 0 {
		t.Errorf("%+v %v after %d requests", got, err, len(r.model.Requests()))
	}
}
