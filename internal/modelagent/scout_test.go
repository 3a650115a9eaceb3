package modelagent

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// scanned is a scout's answer.
func scanned(complexity, verdict string) fakemodel.Answer {
	b, _ := json.Marshal(m{"complexity": complexity, "verdict": verdict, "observations": []m{{"tag": "cart", "text": "The total changes.", "file": "a.go", "line": nil}}, "reasons": []string{"Small."}})
	return fakemodel.Answer{JSON: b}
}

// A scan is one call with the whole diff and no tools; a broken answer is asked for once more, and its graver word counts.
func TestScan(t *testing.T) {
	for _, c := range []struct {
		rule       string
		rules      []fakemodel.Rule
		complexity review.Complexity
		verdict    review.ScanVerdict
		calls      int
	}{
		{"one call", []fakemodel.Rule{{Answer: scanned("simple", "lgtm")}}, review.SimpleChange, review.LooksGood, 1},
		{"a broken answer is repaired once", []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Text: "Looks fine."}}, {Answer: scanned("trivial", "lgtm")}}, review.TrivialChange, review.LooksGood, 2},
		{"the flag of a broken answer stays", []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Text: `{"complexity":"complex","verdict":"flag"}`}}, {Answer: scanned("simple", "lgtm")}}, review.ComplexChange, review.Flag, 2},
		{"two broken answers are none", []fakemodel.Rule{{Answer: fakemodel.Answer{Text: "Looks fine."}}}, "", "", 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: c.rules}, review.Limits{LLMCalls: 2})
			tk := task()
			tk.Role, tk.Limits, tk.Workspace = review.RoleScout, review.Limits{LLMCalls: 2}, &review.Workspace{Tree: "/tree"}
			got, err := Scan(t.Context(), tk, r.options, r.emit)
			if invalid := errors.As(err, new(*InvalidError)); invalid != (c.verdict == "") || err != nil && !invalid {
				t.Fatal(err)
			}
			if got.Complexity != c.complexity || got.Verdict != c.verdict {
				t.Errorf("%s, %s; want %s, %s", got.Complexity, got.Verdict, c.complexity, c.verdict)
			}
			asked := r.model.Requests()
			if len(asked) != c.calls {
				t.Fatalf("%d calls, want %d", len(asked), c.calls)
			}
			body := string(asked[0].Body)
			if strings.Contains(body, `"tools"`) || !strings.Contains(body, "you are the scout") {
				t.Errorf("it asks %s", body)
			}
			for _, f := range tk.Brief.Files {
				for line := range strings.Lines(f.Diff) {
					if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") && !strings.Contains(body, strings.TrimSpace(line[1:])) {
						t.Errorf("the line %q was not in the request", line)
					}
				}
			}
		})
	}
}
