package modelagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// desk is an editor with one file.
type desk struct {
	text, was string
	calls     []string
	reverted  bool
}

func (d *desk) Specs() []ToolSpec {
	object := json.RawMessage(`{"type":"object","properties":{}}`)
	return []ToolSpec{{"edit_file", "edits", object}, {"diff", "shows", object}}
}

func (d *desk) Call(_ context.Context, name string, args []byte) (string, error) {
	d.calls = append(d.calls, name)
	switch name {
	case "edit_file":
		var a struct{ New string }
		if err := json.Unmarshal(args, &a); err != nil {
			return "", errors.New("bad_arguments: no JSON")
		}
		d.text = a.New
		return "a.go is changed\n", nil
	case "diff":
		return d.Diff(), nil
	}
	return "", errors.New("bad_arguments: there is no such tool")
}

func (d *desk) Expand([]string, int, int) {}
func (d *desk) Close() error              { return nil }
func (d *desk) Changed() []string {
	if d.text == d.was {
		return nil
	}
	return []string{"a.go"}
}

func (d *desk) Diff() string {
	if d.text == d.was {
		return ""
	}
	return "-" + d.was + "\n+" + d.text + "\n"
}

func (d *desk) Revert() error {
	d.text, d.reverted = d.was, true
	return nil
}

func editing(text string) fakemodel.ToolCall {
	return fakemodel.ToolCall{Name: "edit_file", Arguments: fmt.Sprintf(`{"new":%q}`, text)}
}

// ending submits ids as fixed, and those after "/" as rejected.
func ending(ids string) fakemodel.ToolCall {
	yes, no, _ := strings.Cut(ids, "/")
	got := fixed{Fixed: []fixedOne{}, Rejected: []rejectedOne{}}
	for _, id := range strings.Fields(yes) {
		got.Fixed = append(got.Fixed, fixedOne{FindingID: id, Description: "fixed " + id})
	}
	for _, id := range strings.Fields(no) {
		got.Rejected = append(got.Rejected, rejectedOne{id, "it is right"})
	}
	args, _ := json.Marshal(got)
	return fakemodel.ToolCall{Name: FixTool, Arguments: string(args)}
}

func fixTask() review.Task {
	t := task()
	t.Role, t.Agent, t.Workspace = review.RoleFixer, "pr-fix", &review.Workspace{Tree: "/clone"}
	t.Earlier = []review.Finding{{ID: "OLD-1", Priority: review.P1, Title: "settled long ago"}}
	t.Fix = &review.FixPayload{PRNumber: 7, Round: 1,
		IssuesToFix:    []review.Finding{{ID: "A", Priority: review.P1, Category: "bug", File: "a.go", Title: "title\u202e of A"}, {ID: "B", Priority: review.P2, Category: "bug", File: "a.go", Title: "B"}},
		OptionalIssues: []review.Finding{{ID: "N", Priority: review.P3, Category: "style", Title: "N"}}}
	return t
}

func TestFix(t *testing.T) {
	script := func(answers ...fakemodel.Answer) (rules []fakemodel.Rule) {
		for i, a := range answers {
			rules = append(rules, fakemodel.Rule{Call: i + 1, Answer: a})
		}
		return rules
	}
	text := fakemodel.Answer{Text: "I shall look into it."}
	look := fakemodel.ToolCall{Name: "diff", Arguments: `{}`}
	inText := fakemodel.Answer{Text: "```json\n" + `{"agent":"me","prNumber":1,"summary":{"fixed":9,"rejected":0,"deferred":0},"fixedIssues":[],"rejectedIssues":[{"findingId":"A","reason":"no"},{"findingId":"B","reason":"no"}],"commits":[]}` + "\n```"}
	for _, c := range []struct {
		rule     string
		llm      int
		change   func(*review.Task)
		rules    []fakemodel.Rule
		want     string // fixed / rejected / deferred
		asked    int
		text     string // what the file holds in the end
		told     string // what the model read in its last call
		reverted bool
	}{
		{rule: "a draft is shown its own changes before it is taken", llm: 9, rules: script(calls(editing("b")), calls(ending("A / B")), calls(ending("A / B"))),
			want: "A / B / 1", asked: 3, text: "b", told: "+b"},
		{rule: "a fixer that looked already is taken at once", llm: 9, rules: script(calls(editing("b"), look), calls(ending("A B /"))),
			want: "A B / / 1", asked: 2, text: "b"},
		{rule: "changes after the look are shown again", llm: 9, rules: script(calls(editing("b"), look), calls(editing("c"), ending("A B /")), calls(ending("A B /"))),
			want: "A B / / 1", asked: 3, text: "c", told: "+c"},
		{rule: "a fixer reads what is left after each answer of its tools", llm: 9, rules: script(calls(editing("b"), look), calls(look), calls(ending("A B /"))),
			want: "A B / / 1", asked: 3, text: "b", told: "Left: model calls: 7, tool calls: 17."},
		{rule: "calls beyond the budget are refused, and it is told so", llm: 9, change: func(t *review.Task) { t.Limits.ToolCalls = 2 },
			rules: script(calls(editing("b"), look, look), calls(ending("A B /"))), want: "A B / / 1", asked: 2, text: "b",
			told: "error: limit: no tool call is left; go on with what you know\nLeft: model calls: 8, tool calls: 0. What an answer asked for beyond"},
		{rule: "optional findings are counted apart", llm: 9, rules: script(calls(editing("b"), look), calls(ending("A B N /"))),
			want: "A B / / 0", asked: 2, text: "b"},
		{rule: "a finding without a word is asked for (spec.md A5)", llm: 9, rules: script(calls(ending("/ A")), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: "error: neither fixed nor rejected: B"},
		{rule: "fixed and rejected at once is refused (spec.md A5)", llm: 9, rules: script(calls(ending("/ A B A")), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: "error: named more than once: A"},
		{rule: "an unknown id is refused", llm: 9, rules: script(calls(ending("/ A B Z")), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: `error: "Z" was not asked for`},
		{rule: "a fix without a change is none", llm: 9, rules: script(calls(ending("A B /")), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: "error: nothing in the tree is changed"},
		{rule: "unless the tree holds the work of the try before", llm: 9, change: func(t *review.Task) {
			t.Setback = &review.Feedback{Try: 1, Checks: []review.Check{{Command: "make", State: review.CheckFailed}}}
		}, rules: script(calls(ending("A B /"))), want: "A B / / 1", asked: 1, text: "a"},
		{rule: "or of an attempt whose answer was refused", llm: 9, change: func(t *review.Task) { t.Repair = &review.Repair{Error: "no output", Answer: ""} },
			rules: script(calls(ending("A B /"))), want: "A B / / 1", asked: 1, text: "a", told: "no output"},
		{rule: "changes that fix nothing are taken back", llm: 9, rules: script(calls(editing("b"), look), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", reverted: true},
		{rule: "the last call is for the answer, and taken unseen", llm: 2, rules: script(calls(editing("b")), calls(ending("A / B"))),
			want: "A / B / 1", asked: 2, text: "b", told: "This is your last call"},
		{rule: "garbage as arguments is told", llm: 9, rules: script(calls(fakemodel.ToolCall{Name: FixTool, Arguments: `{"fixed":7`}), calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: "error: the arguments are not the object described"},
		{rule: "words are answered by a reminder", llm: 9, rules: script(text, calls(ending("/ A B"))), want: "/ A B / 1", asked: 2, text: "a", told: "end by calling " + FixTool},
		{rule: "an answer in text is taken too", llm: 9, rules: script(inText), want: "/ A B / 1", asked: 1, text: "a"},
		{rule: "an answer that was cut off is asked for in pieces", llm: 9, rules: script(fakemodel.Answer{Text: "{", Finish: "length"}, calls(ending("/ A B"))),
			want: "/ A B / 1", asked: 2, text: "a", told: "smaller edits"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			limits := review.Limits{LLMCalls: c.llm, ToolCalls: 20}
			r := setup(t, fakemodel.Script{Rules: c.rules}, limits)
			box := &desk{text: "a", was: "a"}
			tk := fixTask()
			tk.Limits = limits
			if c.change != nil {
				c.change(&tk)
			}
			got, err := Fix(t.Context(), tk, r.options, func(review.Workspace) (Editor, error) { return box, nil }, r.emit)
			if err != nil {
				t.Fatal(err)
			}
			var yes, no []string
			for _, f := range got.FixedIssues {
				yes = append(yes, f.FindingID)
			}
			for _, f := range got.RejectedIssues {
				no = append(no, f.FindingID)
			}
			line := strings.TrimSpace(fmt.Sprintf("%s / %s / %d", strings.Join(yes, " "), strings.Join(no, " "), got.Summary.Deferred))
			if d := cmp.Diff(c.want, strings.ReplaceAll(line, "  ", " ")); d != "" || got.Agent != "pr-fix" || got.PRNumber != 7 || len(got.Commits) != 0 {
				t.Errorf("%+v\n%s", got, d)
			}
			all := r.model.Requests()
			if len(all) != c.asked || box.text != c.text || box.reverted != c.reverted {
				t.Errorf("%d calls, want %d; the file holds %q, want %q; put back: %v", len(all), c.asked, box.text, c.text, box.reverted)
			}
			var said strings.Builder
			for _, msg := range all[len(all)-1].Messages {
				said.WriteString(msg.Text + "\n")
			}
			if !strings.Contains(said.String(), c.told) {
				t.Errorf("the model was not told %q:\n%s", c.told, said.String())
			}
			if strings.Contains(said.String(), "\u202e") || strings.Contains(said.String(), "OLD-1") {
				t.Error("a hidden character, or a finding that is not to be fixed, reached the model")
			}
		})
	}
}

func TestFixThatFails(t *testing.T) {
	for _, c := range []struct {
		rule  string
		rules []fakemodel.Rule
		want  error
		says  string
	}{
		{"a loop on tools ends with the budget", []fakemodel.Rule{{Answer: calls(editing("b"))}}, ErrBudget, "did not end its work"},
		{"a submission that stays wrong is named", []fakemodel.Rule{{Answer: calls(ending("/ A"))}}, ErrBudget, "neither fixed nor rejected: B"},
		{"words alone are no work", []fakemodel.Rule{{Answer: fakemodel.Answer{Text: "hm"}}}, errNoEnd, ""},
		{"an endpoint without tools", []fakemodel.Rule{{Answer: fakemodel.Answer{Status: 400, Message: "tools is not supported"}}}, nil, "needs a model that can call tools"},
		{"a model that declines", []fakemodel.Rule{{Answer: fakemodel.Answer{Refusal: "no"}}}, ErrRefused, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			limits := review.Limits{LLMCalls: 4, ToolCalls: 20}
			r := setup(t, fakemodel.Script{Rules: c.rules}, limits)
			tk := fixTask()
			tk.Limits = limits
			_, err := Fix(t.Context(), tk, r.options, func(review.Workspace) (Editor, error) { return &desk{text: "a", was: "a"}, nil }, r.emit)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v and %q", err, c.want, c.says)
			}
		})
	}
}

func TestFixIsNotAskedForNothing(t *testing.T) {
	r := setup(t, fakemodel.Script{}, review.Limits{})
	open := func(review.Workspace) (Editor, error) { return nil, errors.New("the editor was opened") }
	tk := fixTask()
	tk.Fix = &review.FixPayload{PRNumber: 7, Round: 1, OptionalIssues: []review.Finding{{ID: "N"}}}
	got, err := Fix(t.Context(), tk, r.options, open, r.emit)
	if err != nil || got.Summary != (review.FixSummary{Deferred: 1}) || len(r.model.Requests()) != 0 {
		t.Errorf("%+v %v", got, err)
	}
	tk = fixTask()
	tk.Workspace = nil
	if _, err := Fix(t.Context(), tk, r.options, open, r.emit); err == nil || !strings.Contains(err.Error(), "no tree") {
		t.Error(err)
	}
}
