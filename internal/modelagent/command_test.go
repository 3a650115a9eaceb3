package modelagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/answer"
	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

func toDo() review.Task {
	tk := task()
	tk.Role, tk.Agent, tk.Workspace = review.RoleCommand, "docs-drift", &review.Workspace{Tree: "/tree"}
	tk.Prompt = "Check docs drift for ${command.argv}."
	tk.Command = &review.CommandTask{ID: "docs-drift", Args: `"last 48 hours"`, Argv: []string{"last 48 hours"}}
	return tk
}

func done(titles ...string) fakemodel.Answer {
	list := []m{}
	for _, title := range titles {
		list = append(list, m{"title": title, "severity": "high", "location": m{"file": "a.go", "line": 1, "lineEnd": nil}, "details": "d", "suggestion": "s", "evidence": "b"})
	}
	b, _ := json.Marshal(m{"summary": "Looked.", "findings": list, "notes": []string{}, "confidence": "high"})
	return fakemodel.Answer{JSON: b}
}

func TestCommand(t *testing.T) {
	read := fakemodel.ToolCall{Name: "read_file", Arguments: `{"path":"b.go"}`}
	big := review.Limits{LLMCalls: 6, ToolCalls: 3}
	for _, c := range []struct {
		rule   string
		limits review.Limits
		rules  []fakemodel.Rule
		want   []string
		used   int
		told   string
	}{
		{"the model looks around and is asked for the answer", big, []fakemodel.Rule{
			{Contains: "No tool can be called any more", Last: true, Answer: done("A")}, {Call: 1, Answer: calls(read, read)}, {Call: 2, Answer: fakemodel.Answer{Text: "Enough."}}},
			[]string{"A"}, 2, `["last 48 hours"]`},
		{"an answer that comes unasked is one", big, []fakemodel.Rule{{Answer: done("A", "B")}}, []string{"A", "B"}, 0, "You have 3 tool calls"},
		{"an endpoint without tools gets one question", big, []fakemodel.Rule{{Call: 1, Answer: fakemodel.Answer{Status: 400, Message: "tools is not supported"}}, {Answer: done()}}, nil, 0, "You have no tools"},
		{"without room for tools there is one question", review.Limits{LLMCalls: 2, ToolCalls: 3}, []fakemodel.Rule{{Answer: done()}}, nil, 0, "You have no tools"},
		{"a broken answer is repaired once, and what it said of severe findings stays", review.Limits{LLMCalls: 2},
			[]fakemodel.Rule{{Contains: "was not accepted", Last: true, Answer: done("A")}, {Answer: fakemodel.Answer{Text: `{"findings":[{"title":"Gone","severity":"critical","details":""}]}`}}},
			[]string{"A", "Gone (set aside)"}, 0, ""},
		{"so does what an answer said that is refused where tools may be called", big,
			[]fakemodel.Rule{{Contains: "No tool can be called any more", Last: true, Answer: done()}, {Answer: fakemodel.Answer{Text: `{"findings":[{"title":"Gone","severity":"critical","details":""}]}`}}},
			[]string{"Gone (set aside)"}, 0, ""},
		{"or that is cut there", big,
			[]fakemodel.Rule{{Contains: "No tool can be called any more", Last: true, Answer: done()}, {Answer: fakemodel.Answer{Text: `{"findings":[{"title":"Gone","severity":"critical","det`, Finish: "length"}}},
			[]string{"A finding that could not be read (set aside)"}, 0, ""},
		{"or that breaks off there", big,
			[]fakemodel.Rule{{Contains: "No tool can be called any more", Last: true, Answer: done()}, {Call: 1, Answer: fakemodel.Answer{Text: `{"findings":[{"severity":"critical","title":"` + strings.Repeat("Gone ", 100), Drop: "middle"}}, {Answer: fakemodel.Answer{Text: "Enough."}}},
			[]string{"A finding that could not be read (set aside)"}, 0, ""},
		{"talk there is no answer, whatever it names", big,
			[]fakemodel.Rule{{Contains: "No tool can be called any more", Last: true, Answer: done()}, {Answer: fakemodel.Answer{Text: "- P0: it may divide by zero; I look whether it is critical."}}},
			nil, 0, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := setup(t, fakemodel.Script{Rules: c.rules}, c.limits)
			box := &shelf{}
			r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return box, nil }
			tk := toDo()
			tk.Limits = c.limits
			got, err := Command(t.Context(), tk, r.options, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, f := range got.Findings {
				if f.Unconfirmed != "" {
					f.Title += " (set aside)"
				}
				titles = append(titles, f.Title)
			}
			if d := cmp.Diff(c.want, titles); d != "" {
				t.Error(d)
			}
			all := r.model.Requests()
			if len(box.calls) != c.used || !strings.Contains(fmt.Sprint(all[len(all)-1].Messages), c.told) {
				t.Errorf("%d tool calls, want %d; told %q?", len(box.calls), c.used, c.told)
			}
			if f := r.model.Faults(); len(f) != 0 {
				t.Errorf("the endpoint refused: %v", f)
			}
		})
	}
}

func TestCommandStaysInvalid(t *testing.T) {
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{{Answer: fakemodel.Answer{Text: "I cannot."}}}}, review.Limits{LLMCalls: 2})
	tk := toDo()
	tk.Workspace = nil
	if _, err := Command(t.Context(), tk, r.options, r.emit); !errors.As(err, new(*InvalidError)) {
		t.Error(err)
	}
}

// What an answer said where tools may be called is handed on when no other follows (threats.md T894).
func TestAnAnswerBeforeAnErrorIsHandedOn(t *testing.T) {
	first := fakemodel.Rule{Call: 1, Answer: fakemodel.Answer{Text: `{"findings":[{"title":"Gone","severity":"critical","details":""}]}`}}
	for _, next := range []fakemodel.Answer{{Status: 500, Message: "down"}, {Text: "I cannot."}, {Text: "x", Finish: "content_filter"}} {
		r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{first, {Answer: next}}}, review.Limits{LLMCalls: 6, ToolCalls: 3})
		r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
		tk := toDo()
		tk.Limits = review.Limits{LLMCalls: 6, ToolCalls: 3}
		_, err := Command(t.Context(), tk, r.options, r.emit)
		var invalid *InvalidError
		if !errors.As(err, &invalid) {
			t.Fatalf("err %v", err)
		}
		if kept, _ := answer.SalvageCommand(invalid.Raw); len(kept) == 0 || kept[0].Title != "Gone" {
			t.Errorf("%q leaves %+v", invalid.Raw, kept)
		}
	}
}
