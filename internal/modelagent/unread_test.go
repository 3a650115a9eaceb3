package modelagent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/schema"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

const cutP0 = `{"agent":"one","prNumber":7,"findings":[{"id":"A","priority":"P0","title":"It runs wha`

// refused is the error of a review whose answers stay invalid.
func refused(t *testing.T, rules []fakemodel.Rule) *InvalidError {
	t.Helper()
	r := setup(t, fakemodel.Script{Rules: rules}, review.Limits{})
	_, err := Review(t.Context(), task(), r.options, r.emit)
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("err %v", err)
	}
	return invalid
}

// longP0 is long enough for a stream of it to break off in the middle.
var longP0 = cutP0 + strings.Repeat("t it is sent ", 100)

// A model's answer that stays invalid is handed on, so that what it may have said is not lost: also when the output limit or a
// content filter cut it, and when only the first answer said it.
func TestWhatAModelMayHaveSaidIsHandedOn(t *testing.T) {
	cut := func(why string) fakemodel.Answer { return fakemodel.Answer{Text: cutP0, Finish: why} }
	for name, rules := range map[string][]fakemodel.Rule{
		"cut twice":                        {{Answer: cut("length")}},
		"cut, then prose":                  {{Call: 1, Answer: cut("length")}, {Answer: fakemodel.Answer{Text: "I cannot do that."}}},
		"cut, then an endpoint that fails": {{Call: 1, Answer: cut("length")}, {Answer: fakemodel.Answer{Status: 500, Message: "down"}}},
		"cut by a content filter":          {{Answer: cut("content_filter")}},
		"prose, then cut by the filter":    {{Call: 1, Answer: fakemodel.Answer{Text: "I cannot do that."}}, {Answer: cut("content_filter")}},
		"cut by a refusal":                 {{Answer: fakemodel.Answer{Text: cutP0, Refusal: "I will not go on."}}},
		"broken off, always":               {{Answer: fakemodel.Answer{Text: longP0, Drop: "middle"}}},
		"broken off, then an error":        {{Call: 1, Answer: fakemodel.Answer{Text: longP0, Drop: "middle"}}, {Answer: fakemodel.Answer{Status: 500, Message: "down"}}},
		"broken off, then prose":           {{Times: 1, Answer: fakemodel.Answer{Text: longP0, Drop: "middle"}}, {Answer: fakemodel.Answer{Text: "I cannot do that."}}},
		"cut, then the content filter":     {{Call: 1, Answer: cut("length")}, {Answer: fakemodel.Answer{Text: "x", Finish: "content_filter"}}},
	} {
		t.Run(name, func(t *testing.T) {
			invalid := refused(t, rules)
			kept, _ := answer.SalvageReviewer(invalid.Raw)
			if len(kept) != 1 || !answer.Unreadable(kept[0]) {
				t.Errorf("%q leaves %+v", invalid.Raw, kept)
			}
		})
	}
}

// A finding that is kept of the last answer hides no P0 of the answers before it, whatever words are in it.
func TestAKeptP2HidesNoP0(t *testing.T) {
	broken := func(f m) fakemodel.Answer {
		a := respond(f)
		a.JSON = []byte(strings.Replace(string(a.JSON), `"prNumber":7`, `"prNumber":"seven"`, 1))
		return a
	}
	last := fakemodel.Rule{Answer: broken(finding("B", 6, func(f m) { f["severity"] = "critical" }))}
	for name, rules := range map[string][]fakemodel.Rule{
		"of one that was refused": {{Call: 1, Answer: broken(finding("A", 9))}, last},
		"of one that broke off":   {{Times: 1, Answer: fakemodel.Answer{Text: longP0, Drop: "middle"}}, last},
		"of one at the limit":     {{Call: 1, Answer: fakemodel.Answer{Text: cutP0, Finish: "length"}}, last},
	} {
		t.Run(name, func(t *testing.T) {
			invalid := refused(t, rules)
			kept, _ := answer.SalvageReviewer(invalid.Raw)
			if !slices.ContainsFunc(kept, func(f review.Finding) bool { return f.Priority == review.P0 }) {
				t.Errorf("%q", brief(kept))
			}
		})
	}
}

// Nor does a P0 or P1 of the last answer, which may count for nothing by now: each of both stays, once (threats.md T899).
func TestAKeptP1HidesNoP0(t *testing.T) {
	broken := func(findings ...m) fakemodel.Answer {
		a := respond(findings...)
		a.JSON = []byte(strings.Replace(string(a.JSON), `"prNumber":7`, `"prNumber":"seven"`, 1))
		return a
	}
	a, b := finding("A", 7), finding("B", 9, func(f m) { f["title"], f["file"] = "Anybody may log in", "b.go" })
	both := fakemodel.Answer{Text: string(broken(a, b).JSON)}
	for name, rules := range map[string][]fakemodel.Rule{
		"of one that was refused": {{Call: 1, Answer: both}, {Answer: broken(a)}},
		"of one that broke off":   {{Times: 1, Answer: fakemodel.Answer{Text: both.Text + strings.Repeat(" ", 2000), Drop: "middle"}}, {Answer: broken(a)}},
		"of one at the limit":     {{Call: 1, Answer: fakemodel.Answer{Text: both.Text, Finish: "length"}}, {Answer: broken(a)}},
	} {
		t.Run(name, func(t *testing.T) {
			invalid := refused(t, rules)
			if got := brief(salvaged(invalid)); len(got) != 2 || !strings.HasPrefix(got[0], "A ") || !strings.HasPrefix(got[1], "B ") {
				t.Errorf("%q", got)
			}
		})
	}
}

// salvaged is what the parent keeps of what is handed on.
func salvaged(e *InvalidError) []review.Finding {
	var all [][]review.Finding
	for _, text := range answer.Each(e.Raw) {
		kept, _ := answer.SalvageReviewer(text)
		all = append(all, kept)
	}
	return answer.Salvaged(all...)
}

// What a model claims and does not list, and what it said before its answer was put right, reaches the parent through all that
// the builtin reviewer does with findings.
func TestWhatAModelTakesBackIsSetAside(t *testing.T) {
	over := respond()
	over.JSON = []byte(strings.Replace(string(over.JSON), `"p0_blocking":0`, `"p0_blocking":2`, 1))
	broken := respond(finding("A", 9))
	broken.JSON = []byte(strings.Replace(string(broken.JSON), `"prNumber":7`, `"prNumber":"seven"`, 1))
	low := func(f m) { f["confidence"] = 0.1 }
	for name, row := range map[string]struct {
		rules  []fakemodel.Rule
		limits review.Limits
		id     string
	}{
		"a claim":                      {[]fakemodel.Rule{{Answer: over}}, review.Limits{}, "unreadable"},
		"a P0 of a refused answer":     {[]fakemodel.Rule{{Call: 1, Answer: broken}, {Answer: respond(finding("B", 6))}}, review.Limits{}, "A"},
		"a P0 of an answer that broke": {[]fakemodel.Rule{{Times: 1, Answer: fakemodel.Answer{Text: longP0, Drop: "middle"}}, {Answer: respond(finding("B", 6))}}, review.Limits{}, "unreadable"},
		"a P0 beyond the limit of one": {[]fakemodel.Rule{{Call: 1, Answer: broken}, {Answer: respond(finding("B", 6, low), finding("C", 5))}}, review.Limits{Findings: 1}, "A"},
	} {
		t.Run(name, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: row.rules}, row.limits)
			tk := task()
			tk.Limits = row.limits
			got, err := Review(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(got.Findings, func(f review.Finding) bool { return f.ID == row.id })
			if i < 0 || got.Findings[i].Unconfirmed == "" || got.Findings[i].Priority != review.P0 {
				t.Fatalf("%q", brief(got.Findings))
			}
			text, err := schema.Encode(got)
			if err != nil {
				t.Fatal(err)
			}
			if again, _, err := answer.DecodeReviewer(text); err != nil || len(again.Findings) != len(got.Findings) {
				t.Errorf("%+v, %v", again.Findings, err)
			}
		})
	}
}

// Models that do not know structured output talk around their JSON. One fence of it is taken, as it is from an agent; what the prose
// calls a P0 or P1 is not lost, and anything less plain is asked for again.
func TestProseAroundAFence(t *testing.T) {
	empty := string(respond().JSON)
	fence := func(doc string) string { return "```json\n" + doc + "\n```" }
	for name, row := range map[string]struct {
		text  string
		calls int
		left  int
	}{
		"a sentence before":               {"I found no critical issues.\n\n" + fence(empty), 1, 0},
		"a sentence after":                {fence(empty) + "\n\nAsk me for more.", 1, 0},
		"a fence without language, CRLF":  {"Here it is:\r\n```\r\n" + empty + "\r\n```\r\nDone.", 1, 0},
		"other code beside":               {"This is fine:\n```python\nrun()\n```\n" + fence(empty), 1, 0},
		"prose that weighs":               {"It could be critical in production, but its callers guard it.\n\n" + fence(empty), 1, 0},
		"prose that lists none":           {"- **Critical:** none\n- P1: 0\n\n" + fence(empty), 1, 0},
		"prose that names a P0":           {"- P0: it runs what it is given\n\n" + fence(empty), 1, 1},
		"two fences":                      {fence(empty) + "\n" + fence(empty), 2, 0},
		"a sentence and bare JSON":        {"Here it is:\n" + empty, 2, 0},
		"a fence that is no valid answer": {"Here it is:\n" + fence("{\"agent\": 1}"), 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Text: row.text}}}, Default: new(respond())}, review.Limits{})
			got, err := Review(t.Context(), task(), r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(r.model.Requests()); n != row.calls {
				t.Errorf("%d calls, want %d", n, row.calls)
			}
			if len(got.Findings) != row.left || row.left > 0 && !answer.Unreadable(got.Findings[0]) {
				t.Errorf("%+v", got.Findings)
			}
		})
	}
}

// A model that claims more than it lists is asked once more, with the claim named. What stays contradictory leaves a place, and so does
// what nothing better follows; what is put right leaves none, but for a P0 that was listed. Counts and conclusion need not be there.
func TestAClaimIsAskedAbout(t *testing.T) {
	claims := func(from, to string, findings ...m) fakemodel.Answer {
		a := respond(findings...)
		a.JSON = []byte(strings.Replace(string(a.JSON), from, to, 1))
		return a
	}
	p2 := claims(`"p2_important":0`, `"p2_important":2`)
	asks := claims(`"approve"`, `"request_changes"`)
	p0 := claims(`"p2_important":0`, `"p2_important":2`, finding("A", 9))
	bare := fakemodel.Answer{Text: `{"agent":"one","prNumber":7,"findings":[],"fullReport":null}`}
	prose := fakemodel.Answer{Text: "I cannot do that."}
	for name, row := range map[string]struct {
		rules []fakemodel.Rule
		want  string
		calls int
	}{
		"counts, put right":                   {[]fakemodel.Rule{{Call: 1, Answer: p2}, {Answer: respond()}}, "", 2},
		"a conclusion, put right by a list":   {[]fakemodel.Rule{{Call: 1, Answer: asks}, {Answer: respond(finding("B", 6))}}, "B P2 6", 2},
		"put right without counts":            {[]fakemodel.Rule{{Call: 1, Answer: asks}, {Answer: bare}}, "", 2},
		"claimed again":                       {[]fakemodel.Rule{{Answer: p2}}, "unreadable P0 0 could not be read", 2},
		"then prose":                          {[]fakemodel.Rule{{Call: 1, Answer: asks}, {Answer: prose}}, "unreadable P0 0 could not be read", 2},
		"then an endpoint that fails":         {[]fakemodel.Rule{{Call: 1, Answer: asks}, {Answer: fakemodel.Answer{Status: 500, Message: "vllm-7 is down"}}}, "unreadable P0 0 could not be read", 2},
		"a P0 beside it, and none after":      {[]fakemodel.Rule{{Call: 1, Answer: p0}, {Answer: respond()}}, "A P0 9 was in an earlier answer of the same reviewer, and not in its last one", 2},
		"fewer than are listed, and no claim": {[]fakemodel.Rule{{Answer: respond(finding("B", 6))}}, "B P2 6", 1},
		"no counts and no conclusion":         {[]fakemodel.Rule{{Answer: bare}}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: row.rules}, review.Limits{})
			got, err := Review(t.Context(), task(), r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(got.FullReport, "vllm-7") {
				t.Errorf("the report repeats what the endpoint says (threats.md T681): %s", got.FullReport)
			}
			asked := r.model.Requests()
			if s := strings.Join(brief(got.Findings), ", "); s != row.want || len(asked) != row.calls || got.Conclusion != got.Issues.Conclusion() {
				t.Errorf("%q after %d calls, want %q after %d", s, len(asked), row.want, row.calls)
			}
			if last := asked[len(asked)-1].Messages; row.calls == 2 && !strings.Contains(fmt.Sprint(last[len(last)-1]), "the answer contradicts itself: it c") {
				t.Errorf("the claim is not named: %v", last[len(last)-1])
			}
		})
	}
}

// A model that hands in its last pass with something that blocks, and then lists nothing grave, is asked about it; what it said before
// the last pass was a draft.
func TestAPassThatBlocksIsAskedAbout(t *testing.T) {
	pass := func(n int, blocks bool) fakemodel.Rule {
		return atPass(n, calls(fakemodel.ToolCall{Name: SubmitTool, Arguments: fmt.Sprintf(`{"pass_number":%d,"summary":"P0: It runs what it is sent","has_blocking_issues":%v}`, n, blocks)}))
	}
	for name, row := range map[string]struct {
		first, last bool
		answers     []fakemodel.Answer
		want        string
		asked       int
	}{
		"listed then":               {true, true, []fakemodel.Answer{respond(), respond(finding("A", 9))}, "A P0 9", 6},
		"listed at once":            {true, true, []fakemodel.Answer{respond(finding("A", 9))}, "A P0 9", 5},
		"taken back, when asked":    {true, true, []fakemodel.Answer{respond(finding("B", 6)), respond(finding("B", 6))}, "B P2 6", 6},
		"an endpoint that fails":    {true, true, []fakemodel.Answer{respond(), {Status: 500, Message: "down"}}, "unreadable P0 0 could not be read", 6},
		"dropped by the last pass":  {true, false, []fakemodel.Answer{respond()}, "", 5},
		"nothing blocked in either": {false, false, []fakemodel.Answer{respond()}, "", 5},
	} {
		t.Run(name, func(t *testing.T) {
			limits := review.Limits{LLMCalls: 9, ToolCalls: 3}
			rules := []fakemodel.Rule{{Contains: "The passes are over", Last: true, Answer: row.answers[0]}, pass(1, row.first), pass(2, row.first), pass(3, row.first), pass(4, row.last), {Answer: row.answers[len(row.answers)-1]}}
			r := setup(t, fakemodel.Script{Rules: rules}, limits)
			r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
			tk := task()
			tk.Limits, tk.Workspace = limits, &review.Workspace{Tree: "/tree"}
			got, err := Review(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			asked := r.model.Requests()
			if s := strings.Join(brief(got.Findings), ", "); s != row.want || len(asked) != row.asked || got.Conclusion != got.Issues.Conclusion() {
				t.Errorf("%q after %d calls, want %q after %d", s, len(asked), row.want, row.asked)
			}
			if last := asked[len(asked)-1].Messages; row.asked == 6 && !strings.Contains(fmt.Sprint(last[len(last)-1]), "has_blocking_issues") {
				t.Errorf("the claim is not named: %v", last[len(last)-1])
			}
		})
	}
}
