package modelagent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/testkit/fakemodel"
	"github.com/prloop/prloop/review"
)

// talkative is a task on a pull request with one thread of ours.
func talkative() review.Task {
	tk := task()
	tk.Workspace = &review.Workspace{Tree: "/tree"}
	tk.Brief.Files = []review.BriefFile{{Path: "a.go", Change: "modified", Language: "go", Hunks: 1, HunksGiven: 1, Diff: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-a\n+b\n"}}
	tk.RunState = &review.RunState{Threads: []review.ThreadState{{ID: "100", File: "a.go", Line: 1, Status: "PENDING", Score: 7,
		Assessment:       review.ThreadAssessment{Finding: "Null pointer is followed", Assessment: "An empty answer ends the program.", Score: 7},
		DeveloperReplies: []review.ThreadReply{{Author: "ada", Body: "It is never empty."}}}}}
	return tk
}

func wish(finding string, score, line int) []byte {
	data, _ := json.Marshal(m{"file": "a.go", "line": line, "body": "Check it.", "assessment": m{"finding": finding, "assessment": finding + " for everybody.", "score": score}})
	return data
}

// What the tools about threads answer (spec.md D4.2): the state, and wishes that are filtered.
func TestTalk(t *testing.T) {
	box := talking(&shelf{}, talkative(), 5)
	run := func(name string, args string) string {
		got, err := box.Call(context.Background(), name, []byte(args))
		if err != nil {
			return "error: " + err.Error()
		}
		return got
	}
	for _, row := range []struct{ name, args, want string }{
		{runStateTool, `{}`, `{"threads":[{"id":"100","file":"a.go","line":1,"status":"PENDING","score":7,"assessment":{"finding":"Null pointer is followed",`},
		{runStateTool, `{}`, `"developer_replies":[{"author":"ada","body":"It is never empty."`},
		{postTool, string(wish("Cache grows without bound", 7, 1)), "wish-1"},
		{postTool, string(wish("Cache grows without bound", 7, 1)), "filtered: wish-1 says it already"},
		{postTool, string(wish("Null pointer is followed", 7, 1)), "filtered: thread 100 says it already"},
		{postTool, string(wish("A name is vague", 4, 1)), "filtered: a score of 4 is below the threshold of 5"},
		{postTool, string(wish("A loop never ends", 7, 9)), "filtered: that line is not"},
		{postTool, string(wish("", 7, 1)), "bad_arguments"},
		{postTool, string(wish("A loop never ends", 11, 1)), "bad_arguments"},
		{postTool, `{"file":`, "bad_arguments"},
		{replyTool, `{"thread_id":"wish-1","body":"Every request adds to it.","is_concession":false}`, "ok"},
		{replyTool, `{"thread_id":"100","body":"You are right.","is_concession":true}`, "filtered: prloop answers and settles the threads of earlier runs itself"},
		{resolveTool, `{"thread_id":"100","reason":"gone"}`, "filtered: prloop answers"},
		{resolveTool, `{"thread_id":"wish-2","reason":"gone"}`, "not_found"},
		{resolveTool, `{"thread_id":"wish-1x","reason":"gone"}`, "not_found"},
		{postTool, string(wish("Password leaves the machine", 9, 1)), "wish-2"},
		{resolveTool, `{"thread_id":"wish-2","reason":"It does not."}`, "ok"},
		{"read_file", `{"path":"b.go"}`, "what stands there"},
	} {
		if got := run(row.name, row.args); !strings.Contains(got, row.want) {
			t.Errorf("%s %s: %s, want %s", row.name, row.args, got, row.want)
		}
	}
	got := wishes(box, nil)
	if len(got) != 1 || got[0].Priority != review.P1 || !strings.HasSuffix(got[0].Description, "Every request adds to it.") || got[0].Evidence != "b" {
		t.Errorf("%+v", got)
	}
	if got := wishes(box, got); len(got) != 0 {
		t.Errorf("what the answer lists is there twice: %+v", got)
	}
	// A verifier only reads, and without threads there is nothing to talk about.
	reader := talkative()
	reader.Role = review.RoleVerifier
	for _, row := range []struct {
		task review.Task
		want int
	}{{talkative(), 6}, {reader, 3}, {task(), 2}} {
		if n := len(talking(&shelf{}, row.task, 5).Specs()); n != row.want {
			t.Errorf("%d tools are offered, want %d", n, row.want)
		}
	}
	if talking(nil, talkative(), 5) != nil {
		t.Error("tools without a box")
	}
}

// What is said already stands for a wish where it is as grave (threats.md T912).
func TestNothingSmallStandsForAWish(t *testing.T) {
	tk := talkative()
	tk.RunState.Threads[0].Score = 5
	box := talking(&shelf{}, tk, 5)
	for _, row := range []struct {
		score int
		want  string
	}{{5, "filtered: thread 100 says it already"}, {7, "wish-1"}, {8, "filtered: wish-1 says it already"}, {9, "wish-2"}} {
		got, err := box.Call(t.Context(), postTool, wish("Null pointer is followed", row.score, 1))
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("a score of %d: %s, want %s", row.score, got, row.want)
		}
	}
	all := wishes(box, nil)
	small := all[1]
	small.Priority = review.P3
	if got := wishes(box, []review.Finding{all[0], small}); len(got) != 1 || got[0].ID != "WISH-2" {
		t.Errorf("left beside a P1 and a P3 in its words: %+v", got)
	}
}

// A comment that a model wishes for is one of its findings.
func TestWishesAreFindings(t *testing.T) {
	limits := review.Limits{LLMCalls: 9, ToolCalls: 5}
	r := setup(t, fakemodel.Script{Rules: []fakemodel.Rule{
		{Contains: "The passes are over", Last: true, Answer: respond(finding("A", 7))},
		{Call: 1, Answer: calls(fakemodel.ToolCall{Name: runStateTool, Arguments: `{}`}, fakemodel.ToolCall{Name: postTool, Arguments: string(wish("Cache grows without bound", 6, 1))})},
		{Call: 2, Answer: calls(submit(1))},
		atPass(2, calls(submit(2))), atPass(3, calls(submit(3))), atPass(4, calls(submit(4))),
	}}, limits)
	r.options.Tools = func(review.Workspace, string) (Toolbox, error) { return &shelf{}, nil }
	tk := talkative()
	tk.Limits = limits
	got, err := Review(t.Context(), tk, r.options, r.emit)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[A P1 7 WISH-1 P2 6]"; fmt.Sprint(brief(got.Findings)) != want {
		t.Errorf("%v, want %s", brief(got.Findings), want)
	}
	all := r.model.Requests()
	if told := fmt.Sprint(all[len(all)-1].Messages); !strings.Contains(told, "It is never empty.") || !strings.Contains(told, "wish-1") {
		t.Error("the model was not told the state and its thread id")
	}
	if f := r.model.Faults(); len(f) != 0 {
		t.Errorf("the endpoint refused: %v", f)
	}
	check(t, got)
}
