package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/lens"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// shelf is a toolbox that remembers what it was asked.
type shelf struct {
	calls    []string
	expanded string
}

func (s *shelf) Specs() []ToolSpec {
	object := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)
	return []ToolSpec{{"read_file", "reads", object}, {"get_function_context", "looks around", object}}
}

func (s *shelf) Call(_ context.Context, name string, args []byte) (string, error) {
	s.calls = append(s.calls, name+" "+string(args))
	if !json.Valid(args) {
		return "", errors.New("bad_arguments: no JSON")
	}
	return "what stands there\n", nil
}

func (s *shelf) Expand(changed []string, files, lines int) {
	s.expanded = fmt.Sprint(changed, files, lines)
}
func (s *shelf) Close() error { return nil }

func submit(n int) fakemodel.ToolCall {
	return fakemodel.ToolCall{Name: SubmitTool, Arguments: fmt.Sprintf(`{"pass_number":%d,"summary":"s","has_blocking_issues":false}`, n)}
}

func calls(c ...fakemodel.ToolCall) fakemodel.Answer { return fakemodel.Answer{ToolCalls: c} }

func atPass(n int, a fakemodel.Answer) fakemodel.Rule {
	return fakemodel.Rule{Contains: fmt.Sprintf("# Pass %d of 4", n), Last: true, Answer: a}
}

func TestPasses(t *testing.T) {
	read := fakemodel.ToolCall{Name: "read_file", Arguments: `{"path":"b.go"}`}
	garbage := fakemodel.ToolCall{Name: "read_file", Arguments: `{"path":`}
	final := fakemodel.Rule{Contains: "The passes are over", Last: true, Answer: respond(finding("A", 7))}
	ends := []fakemodel.Rule{final, atPass(1, calls(submit(1))), atPass(2, calls(submit(2))), atPass(3, calls(submit(3))), atPass(4, calls(submit(4)))}
	with := func(first ...fakemodel.Rule) []fakemodel.Rule { return append(first, ends...) }
	for _, c := range []struct {
		rule        string
		llm, tool   int
		rules       []fakemodel.Rule
		asked, used int
		says        string // in the report
		told        string // to the model
	}{
		{"four passes and the answer (spec.md D5)", 5, 3, ends, 5, 0, "", "# Pass 4 of 4"},
		{"tools in between are counted", 9, 3, with(fakemodel.Rule{Call: 1, Answer: calls(read, read)}, fakemodel.Rule{Call: 2, Answer: calls(submit(1))}), 6, 2, "", "what stands there"},
		{"below five calls there is one question", 4, 3, []fakemodel.Rule{{Answer: respond(finding("A", 7))}}, 1, 0, "", "answer with the JSON object only"},
		{"garbage as arguments is an error the model can read", 9, 3, with(fakemodel.Rule{Call: 1, Answer: calls(garbage)}, fakemodel.Rule{Call: 2, Answer: calls(submit(1))}), 6, 1, "", "error: bad_arguments"},
		{"a pass cannot be ended in the name of another", 9, 3, with(fakemodel.Rule{Call: 1, Answer: calls(submit(4))}, fakemodel.Rule{Call: 2, Answer: calls(submit(1))}), 6, 0, "", "error: this is pass 1"},
		{"an incomplete submission is refused", 9, 3, with(fakemodel.Rule{Call: 1, Answer: calls(fakemodel.ToolCall{Name: SubmitTool, Arguments: `{}`})}, fakemodel.Rule{Call: 2, Answer: calls(submit(1))}), 6, 0, "", "are required"},
		{"a loop on tools ends at the calls kept for the answer", 6, 100, []fakemodel.Rule{final, {Answer: calls(read)}}, 6, 5, "pass 1 was cut short: one LLM call is kept", "The passes are over; pass 1"},
		{"never submitting ends each pass after one reminder", 20, 3, []fakemodel.Rule{final, {Answer: fakemodel.Answer{Text: "hm"}}}, 9, 0, "", "End pass 4 by calling"},
		{"an endpoint without tools gets one question", 9, 3, []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Status: 400, Message: "tools is not supported"}}, {Answer: respond(finding("A", 7))}}, 2, 0, "", "answer with the JSON object only"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			limits := review.Limits{LLMCalls: c.llm, ToolCalls: c.tool}
			r := setup(t, fakemodel.Script{Rules: c.rules}, limits)
			box := &shelf{}
			r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return box, nil }
			tk := task()
			tk.Limits, tk.Workspace = limits, &review.Workspace{Tree: "/tree"}
			tk.Brief.Files[0].Context = []review.Region{{Start: 1, End: 1, Text: "b"}}
			got, err := Review(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"A P1 7"}, brief(got.Findings)); diff != "" {
				t.Error(diff)
			}
			all := r.model.Requests()
			if len(all) != c.asked || len(box.calls) != c.used {
				t.Errorf("%d LLM and %d tool calls, want %d and %d", len(all), len(box.calls), c.asked, c.used)
			}
			if !strings.Contains(got.FullReport, c.says) {
				t.Errorf("report: %s", got.FullReport)
			}
			if !strings.Contains(fmt.Sprint(all[len(all)-1].Messages), c.told) {
				t.Errorf("the model was not told %q", c.told)
			}
			if f := r.model.Faults(); len(f) != 0 {
				t.Errorf("the endpoint refused: %v", f)
			}
			spent := 0
			for _, e := range r.events {
				if e.Usage != nil {
					spent += e.Usage.ToolCalls
				}
			}
			if spent != c.used {
				t.Errorf("events tell of %d tool calls, want %d", spent, c.used)
			}
			check(t, got)
		})
	}
}

// A whole answer that is given in a pass, and that the last one is without, does not go away; what a pass thinks aloud does (threats.md T894).
func TestAnAnswerInAPassStays(t *testing.T) {
	early := string(respond(finding("A", 9)).JSON)
	aside := []string{"A P0 9 was in an earlier answer of the same reviewer, and not in its last one"}
	for text, want := range map[string][]string{early: aside, "```json\n" + early + "\n```": aside, early[:strings.Index(early, "fullReport")]: aside, "- P0: it may divide by zero; the next pass tells.": nil} {
		for _, first := range []fakemodel.Answer{{Text: text}, {Text: text, ToolCalls: []fakemodel.ToolCall{submit(1)}}} {
			limits := review.Limits{LLMCalls: 20, ToolCalls: 3}
			r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{
				{Contains: "The passes are over", Last: true, Answer: respond()}, {Call: 1, Answer: first}, {Answer: fakemodel.Answer{Text: "hm"}},
			}}, limits)
			r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
			tk := task()
			tk.Limits, tk.Workspace = limits, &review.Workspace{Tree: "/tree"}
			got, err := Review(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, brief(got.Findings)); diff != "" {
				t.Errorf("%.40q: %s", text, diff)
			}
		}
	}
}

func TestToolBudget(t *testing.T) {
	m := &model{toolsLeft: 1, emit: func(review.Event) {}}
	box := &shelf{}
	if got := call(t.Context(), m, box, "Kq7w2Zr9Tn4xBm5c", "read_file", `{}`); !strings.Contains(got, "what stands there") {
		t.Error(got)
	}
	if got := call(t.Context(), m, box, "Kq7w2Zr9Tn4xBm5c", "read_file", `{}`); !strings.HasPrefix(got, "error: limit") || len(box.calls) != 1 {
		t.Errorf("%s after %d calls", got, len(box.calls))
	}
	m.left, m.toolsLeft = 3, 1
	if got := remaining(m); got != "\nLeft: model calls: 3, tool calls: 1." {
		t.Errorf("%q", got)
	}
}

// Scores are answered as the model gave them, however low: who asked raises and joins them (package score).
func TestScoresAreTheModelsOwn(t *testing.T) {
	of := func(category string, score int) review.Finding {
		return review.Finding{ID: category, Category: category, Score: score, OriginalScore: 1, Evidence: "e", File: "a.go"}
	}
	s := settler{}
	s.take(review.ReviewerResult{Findings: []review.Finding{of("style", 4), of("security", 7), of("style", 3)}})
	if len(s.findings) != 3 || s.findings[0].OriginalScore != 0 {
		t.Errorf("kept are %+v", s.findings)
	}
	if diff := cmp.Diff([]string{"security P1 7", "style P3 4", "style P3 3"}, brief(s.result().Findings)); diff != "" {
		t.Error(diff)
	}
}

func TestRiskOptions(t *testing.T) {
	tk := task()
	tk.Options = review.Options{Lens: lens.Auto, Elevation: 4}
	tk.Brief.Files[0].Path = "internal/auth/check.go"
	o, err := Options{Socket: "s"}.complete(tk)
	if err != nil || o.Lens != "security" || o.Elevation != 4 || o.Threshold != defaultThreshold {
		t.Errorf("%+v %v", o, err)
	}
	if o, err = (Options{Socket: "s", Elevation: 3}).complete(tk); err != nil || o.Elevation != 3 {
		t.Errorf("the caller knows better: %+v %v", o, err)
	}
}
