package orchestrator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// inlineInputs is a round in which one reviewer found things at lines of a.go, whose hunk has the lines 1 to 20.
func inlineInputs(findings ...review.Finding) Inputs {
	text := "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -0,0 +1,20 @@\n"
	for i := range 20 {
		text += fmt.Sprintf("+line %d\n", i+1)
	}
	state := conversation.State{Threads: []conversation.Thread{}}
	return Inputs{
		Round: 1,
		Request: Request{Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "o", Name: "r"}, PR: 7}, Inline: InlineProminent, InlineMost: 30,
			Agents: []AgentPlan{{Name: "one", Role: review.RoleReviewer, Kind: review.KindCommand}}},
		Snapshot: Snapshot{Conversation: &state, Range: Range{Head: "head"}, Brief: review.Brief{Status: "ok", Files: []review.BriefFile{{Path: "a.go", Change: "added", Additions: 20, Hunks: 1, HunksGiven: 1, Diff: text}}}},
		Reports: []AgentReport{{Answer: review.Answer{Receipt: review.AgentReceipt{Name: "one", Role: review.RoleReviewer, Kind: review.KindCommand, State: review.AgentComplete},
			Reviewer: &review.ReviewerResult{Findings: findings}}}},
	}
}

func foundAt(priority review.Priority, line int, title string) review.Finding {
	f := review.Finding{ID: title, Priority: priority, Category: "bug", File: "a.go", Title: title, Description: title + " breaks what callers rely on.",
		Source: review.Source{Type: "agent", Name: "one"}}
	if line > 0 {
		f.Line = &line
	}
	return f
}

// What has a place goes onto its line, once, and as often as a pull request bears it (threats.md T159); all else stays in the report.
func TestProposals(t *testing.T) {
	null, leak := foundAt(review.P1, 3, "Null pointer is followed"), foundAt(review.P0, 9, "Password leaves the machine")
	thread := conversation.Thread{ID: "1", Node: "T1", URL: "https://github.com/o/r/pull/7#discussion_r1", File: "a.go", Line: 3, Status: conversation.Pending, Score: 7, Priority: review.P1, Category: "bug",
		Assessment: conversation.Assessment{Finding: null.Title, Assessment: null.Description, Score: 7}}
	with := func(change func(*conversation.Thread)) func(*Inputs) {
		return func(in *Inputs) {
			one := thread
			change(&one)
			in.Snapshot.Conversation = &conversation.State{Threads: []conversation.Thread{one}, Metadata: conversation.Metadata{Posted: 1}}
		}
	}
	begun := func(login, body string) func(*Inputs) {
		return func(in *Inputs) {
			line := 3
			in.Snapshot.People = &conversation.People{Author: "ada", Own: "prloop"}
			in.Snapshot.Discussion.Threads = []review.Thread{{ID: "T9", File: "a.go", Line: &line, Comments: []review.Comment{
				{Author: review.Person{Login: login, Association: "MEMBER"}, Body: body + ". It breaks what callers rely on."},
			}}}
		}
	}
	for _, c := range []struct {
		what     string
		findings []review.Finding
		change   func(*Inputs)
		want     []string
	}{
		{"two findings, the graver one first", []review.Finding{null, leak}, nil, []string{leak.Title, null.Title}},
		{"switched off", []review.Finding{null}, func(in *Inputs) { in.Request.Inline = "" }, nil},
		{"a local change has no lines on GitHub", []review.Finding{null}, func(in *Inputs) { in.Request.Target = review.Target{Base: "main"} }, nil},
		{"a finding without a line", []review.Finding{foundAt(review.P1, 0, "Nowhere")}, nil, nil},
		{"one bad place costs no other", []review.Finding{foundAt(review.P1, 99, "Behind the end"), leak}, nil, []string{leak.Title}},
		{"a suggestion is not prominent", []review.Finding{foundAt(review.P3, 5, "Name is vague")}, func(in *Inputs) { in.Request.Threshold = 1 }, nil},
		{"and is one of all", []review.Finding{foundAt(review.P3, 5, "Name is vague")}, func(in *Inputs) { in.Request.Threshold, in.Request.Inline = 1, InlineAll }, []string{"Name is vague"}},
		{"a finding with a thread of ours", []review.Finding{null, leak}, with(func(*conversation.Thread) {}), []string{leak.Title}},
		{"a thread that moved out of the diff", []review.Finding{null}, with(func(t *conversation.Thread) { t.Line = 0 }), nil},
		{"a thread that somebody else resolved", []review.Finding{null}, with(func(t *conversation.Thread) { t.Closed = true }), nil},
		{"a thread that we settled: it came back", []review.Finding{null}, with(func(t *conversation.Thread) { t.Status = conversation.Resolved }), []string{null.Title}},
		{"a thread about something else", []review.Finding{null}, with(func(t *conversation.Thread) {
			t.Assessment.Finding, t.Assessment.Assessment = "Loop never ends", "It spins."
		}), []string{null.Title}},
		{"an open thread of somebody else, which anybody settles", []review.Finding{null}, begun("mona", null.Title), []string{null.Title}},
		{"one in which it is a P1", []review.Finding{null}, begun("mona", "P1: "+null.Title), nil},
		{"one in which the author says so", []review.Finding{null}, begun("ada", "P1: "+null.Title), []string{null.Title}},
		{"one about what is not grave", []review.Finding{foundAt(review.P2, 3, null.Title)}, begun("mona", null.Title), nil},
		{"a discussion of which a part was not read", []review.Finding{null}, func(in *Inputs) { in.Snapshot.Discussion.Truncated = true }, nil},
		{"no more than a pull request bears", []review.Finding{null, leak}, func(in *Inputs) { in.Request.InlineMost = 1 }, []string{leak.Title}},
		{"over its whole life", []review.Finding{leak}, func(in *Inputs) {
			in.Request.InlineMost, in.Snapshot.Conversation.Metadata.Posted = 4, 4
		}, nil},
	} {
		in := inlineInputs(c.findings...)
		if c.change != nil {
			c.change(&in)
		}
		var got []string
		for _, p := range Judge(in).proposed {
			got = append(got, p.lead.Title)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// A thread is settled when its finding is gone by what can be seen, not by silence.
func TestCures(t *testing.T) {
	thread := conversation.Thread{ID: "1", Node: "T1", File: "a.go", Line: 3, Status: conversation.Pending, Priority: review.P1, Category: "bug", Head: "before",
		Assessment: conversation.Assessment{Finding: "Null pointer is followed", Assessment: "It breaks.", Score: 7}}
	for _, c := range []struct {
		what   string
		change func(*Inputs, *conversation.Thread)
		want   int
	}{
		{"the code is gone, and nobody finds it", func(*Inputs, *conversation.Thread) {}, 1},
		{"the code still stands there", func(in *Inputs, _ *conversation.Thread) { in.Snapshot.Gone = nil }, 0},
		{"it was opened on this head", func(_ *Inputs, t *conversation.Thread) { t.Head = "head" }, 0},
		{"it was disputed, and is fixed all the same", func(_ *Inputs, t *conversation.Thread) { t.Status = conversation.Disputed }, 1},
		{"somebody resolved it", func(_ *Inputs, t *conversation.Thread) { t.Closed = true }, 0},
		{"it is found again", func(in *Inputs, _ *conversation.Thread) {
			in.Reports[0].Answer.Reviewer.Findings = []review.Finding{foundAt(review.P1, 3, "Null pointer is followed")}
		}, 0},
		{"too few reviewers answered", func(in *Inputs, _ *conversation.Thread) { in.Reports[0].Answer.Receipt.State = review.AgentFailed }, 0},
		{"a part was not read", func(in *Inputs, _ *conversation.Thread) { in.Snapshot.Brief.Status = "truncated" }, 0},
	} {
		in, one := inlineInputs(), thread
		in.Snapshot.Gone = []string{"1"}
		c.change(&in, &one)
		in.Snapshot.Conversation.Threads = append(in.Snapshot.Conversation.Threads, one)
		if got := Judge(in).cured; len(got) != c.want {
			t.Errorf("%s: %+v, want %d", c.what, got, c.want)
		}
	}
}

// An approval links each thread of prloop's that it leaves open, and no other: a merge may have to wait for it.
func TestAnApprovalNamesTheThreadsItLeavesOpen(t *testing.T) {
	thread := conversation.Thread{ID: "1", Node: "T1", URL: "https://github.com/o/r/pull/7#discussion_r1", File: "a.go", Line: 3, Status: conversation.Pending, Priority: review.P1, Category: "bug", Head: "before",
		Assessment: conversation.Assessment{Finding: "Null pointer is followed", Assessment: "It breaks.", Score: 7}}
	const one = "**Next:** Check whether the problems of these open threads of prloop's, which nobody raised again, are gone, and resolve the threads if so: [`a.go:3`](https://github.com/o/r/pull/7#discussion_r1).\n"
	for _, c := range []struct {
		what   string
		change func(*Inputs, *conversation.Thread)
		want   string
	}{
		{"nothing shows that it is gone", func(*Inputs, *conversation.Thread) {}, one},
		{"a second one", func(in *Inputs, t *conversation.Thread) {
			other := *t
			other.ID, other.Line = "2", 5
			in.Snapshot.Conversation.Threads = append(in.Snapshot.Conversation.Threads, other)
		}, "**Next:** Check whether the problems of these open threads of prloop's, which nobody raised again, are gone, and resolve the threads if so: [`a.go:5`](https://github.com/o/r/pull/7#discussion_r1), [`a.go:3`](https://github.com/o/r/pull/7#discussion_r1).\n"},
		{"prloop settles it", func(in *Inputs, _ *conversation.Thread) { in.Snapshot.Gone = []string{"1"} }, ""},
		{"somebody resolved it", func(_ *Inputs, t *conversation.Thread) { t.Closed = true }, ""},
		{"prloop called it resolved, and may not resolve it", func(_ *Inputs, t *conversation.Thread) { t.Status = conversation.Resolved }, ""},
		{"it is found again, as minor", func(in *Inputs, _ *conversation.Thread) {
			in.Reports[0].Answer.Reviewer.Findings = []review.Finding{foundAt(review.P3, 3, "Null pointer is followed")}
		}, ""},
	} {
		in, mine := inlineInputs(), thread
		c.change(&in, &mine)
		in.Snapshot.Conversation.Threads = append(in.Snapshot.Conversation.Threads, mine)
		if got := Judge(in); got.Result.Outcome != review.Converged || strings.Contains(got.Report, "**Next:**") != (c.want != "") || !strings.Contains(got.Report, c.want) {
			t.Errorf("%s: %s\n%s", c.what, got.Result.Outcome, got.Report)
		}
	}
}

// A fix of this run cures the thread of the finding that it fixed, not that of a similar one in other code.
func TestAFixCuresItsOwn(t *testing.T) {
	thread := conversation.Thread{ID: "1", File: "a.go", Line: 3, Priority: review.P1, Category: "bug", Head: "before", Evidence: "return Count(shelves) / len(shelves)",
		Assessment: conversation.Assessment{Finding: "Mean of an empty list divides by zero", Score: 7}}
	for quote, want := range map[string]bool{thread.Evidence: true, "n := 0\n" + thread.Evidence: true, "": true, "return shelf / Count(shelves)": false} {
		f := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
		f.Evidence = quote
		m := matched{tracked: []Tracked{{Round: 1, FixedIn: 1, Settled: true, Claim: &review.Claim{Kind: review.ClaimFixed}, Findings: []review.Finding{f}}}}
		if m.in.Round = 2; (m.fixed(thread) != nil) != want {
			t.Errorf("a fix of %q: %v, want %v", quote, !want, want)
		}
	}
	// What another reviewer says in the thread has to be fixed as well.
	thread.By, thread.RaisedBy = "one", []string{"one", "two"}
	thread.Also = []conversation.Wording{{By: "two", Finding: "The list of shelves is shared between threads", Assessment: "It races.", Category: "bug", Priority: review.P1, Evidence: "shelves = all"}}
	one := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	two := saidBy("two", foundAt(review.P1, 9, ""), thread.Also[0].Finding)
	one.Evidence, two.Evidence = thread.Evidence, thread.Also[0].Evidence
	for n, fixed := range [][]review.Finding{{one}, {two}, {one, two}} {
		m := matched{tracked: []Tracked{{Round: 1, FixedIn: 1, Settled: true, Claim: &review.Claim{Kind: review.ClaimFixed}, Findings: fixed}}}
		if m.in.Round = 2; (m.fixed(thread) != nil) != (n == 2) {
			t.Errorf("a fix of what is said in %+v: %t", fixed, n != 2)
		}
	}
	// What another reviewer says alike, or who raised it as less, is not what the thread says.
	thread.Also = nil
	for name, p := range map[string]review.Priority{"two": review.P1, "one": review.P3} {
		other := one
		other.Source.Name, other.Priority = name, p
		m := matched{tracked: []Tracked{{Round: 1, FixedIn: 1, Settled: true, Claim: &review.Claim{Kind: review.ClaimFixed}, Findings: []review.Finding{other}}}}
		if m.in.Round = 2; m.fixed(thread) != nil {
			t.Errorf("a fix of a %s of %s cures the thread", p, name)
		}
	}
}

// Closing its thread settles no grave finding that is found again; of others a person's word is taken.
func TestReopened(t *testing.T) {
	thread := conversation.Thread{ID: "1", Node: "T1", File: "a.go", Line: 3, Status: conversation.Pending, Closed: true, Priority: review.P1, Category: "bug", Head: "before",
		Assessment: conversation.Assessment{Finding: "Null pointer is followed", Assessment: "It breaks.", Score: 7}}
	for _, c := range []struct {
		what   string
		found  review.Priority
		change func(*conversation.Thread)
		want   int
	}{
		{"a P1", review.P1, func(*conversation.Thread) {}, 1},
		{"a P2", review.P2, func(t *conversation.Thread) { t.Priority = review.P2 }, 0},
		{"a P2 that was a P1", review.P2, func(*conversation.Thread) {}, 1},
		{"a P0 that was a P2", review.P0, func(t *conversation.Thread) { t.Priority = review.P2 }, 1},
		{"security", review.P2, func(t *conversation.Thread) { t.Priority, t.Category = review.P2, "security" }, 1},
		{"one that is open", review.P1, func(t *conversation.Thread) { t.Closed = false }, 0},
		{"one that we settled", review.P1, func(t *conversation.Thread) { t.Status = conversation.Resolved }, 0},
	} {
		one := thread
		c.change(&one)
		f := foundAt(c.found, 3, "Null pointer is followed")
		f.Category = one.Category
		in := inlineInputs(f)
		in.Snapshot.Conversation.Threads = []conversation.Thread{one}
		if got := Judge(in).reopened; len(got) != c.want {
			t.Errorf("%s: %v, want %d", c.what, got, c.want)
		}
	}
	in := inlineInputs()
	in.Snapshot.Conversation.Threads = []conversation.Thread{thread}
	if got := Judge(in).reopened; len(got) != 0 {
		t.Errorf("nobody found it again: %v", got)
	}
}

// What is grave has no open thread that shows nothing grave; less grave it has any (threats.md T604).
func TestGraveThreadsOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		shown, found review.Priority
		closed, own  bool
	}{
		{review.P2, review.P1, false, true}, {review.P2, review.P1, true, false}, {review.P1, review.P0, false, false}, {review.P1, review.P2, false, false}, {review.P3, review.P2, false, false},
	} {
		thread := threadOf(saidBy("one", foundAt(c.shown, 3, ""), "Null pointer is followed"), 1)
		thread.Closed = c.closed
		in := raised([]review.Finding{saidBy("one", foundAt(c.found, 3, ""), "Null pointer is followed")}, thread)
		if got := match(gather(in).assess()).threaded(); len(got) != 1 || (got[0] < 0) != c.own {
			t.Errorf("a %s shown, a %s found, closed %v: %v", c.shown, c.found, c.closed, got)
		}
	}
}

// saidBy is a finding in a reviewer's words.
func saidBy(who string, f review.Finding, title string) review.Finding {
	f.Source.Name, f.Title, f.Description = who, title, title+" breaks what callers rely on."
	return f
}

// raised are the inputs of a round in which these are found, each by its own reviewer, and the threads that people resolved.
func raised(findings []review.Finding, threads ...conversation.Thread) Inputs {
	in := disputedInputs()
	in.Request.Disputes, in.Request.Agents, in.Reports = nil, nil, nil
	for _, f := range findings {
		name := f.Source.Name
		in.Request.Agents = append(in.Request.Agents, AgentPlan{Name: name, Role: review.RoleReviewer, Kind: review.KindCommand})
		in.Reports = append(in.Reports, AgentReport{Answer: review.Answer{Receipt: review.AgentReceipt{Name: name, Role: review.RoleReviewer, Kind: review.KindCommand, State: review.AgentComplete},
			Reviewer: &review.ReviewerResult{Findings: []review.Finding{f}}}, Evidence: []evidence.Result{{Status: evidence.None, Quoted: f.Quoted, Named: f.Named}}})
	}
	in.Snapshot.Conversation.Threads = threads
	return in
}

// However much one reviewer writes, what the others say of the same finding stands in its thread, and is known again from there
// (threats.md T376).
func TestAThreadShowsEveryWording(t *testing.T) {
	first := saidBy("a", foundAt(review.P1, 9, ""), "A Mean of an empty list divides names "+strings.Repeat("by zero ", 100))
	first.Description, first.Suggestion = strings.Repeat("No harm is done. ", 2300), strings.Repeat("```\nwait\n", 4000)
	said := []review.Finding{first}
	for i, by := range []string{"honest", "x1", "x2", "x3"} {
		f := saidBy(by, first, fmt.Sprintf("Mean of an empty list divides by zero, says %s", by))
		f.Description, f.Suggestion = fmt.Sprintf("The service %d dies.", i), ""
		said = append(said, f)
	}
	in := raised(said)
	j := Judge(in)
	if len(j.proposed) != 1 {
		t.Fatalf("%+v", j.proposed)
	}
	l := &Loop{MarkerKey: []byte("0123456789abcdef0123456789abcdef")}
	comments, err := l.lineComments(Request{Target: in.Request.Target, Run: "run", ReviewID: "4f1c"}, 1, j, "nonce")
	if err != nil || len(comments) != 1 {
		t.Fatalf("%d comments, %v", len(comments), err)
	}
	body := comments[0].Body.String()
	text, _, _ := strings.Cut(body, "<summary>For prloop</summary>")
	for i, f := range said[1:] {
		if !strings.Contains(text, "**Also (`"+f.Source.Name+"`, P1):** "+f.Title) || !strings.Contains(text, fmt.Sprintf("The service %d dies.", i)) {
			t.Errorf("what %s says is not in\n%s", f.Source.Name, text)
		}
	}
	block, _ := sanitize.NoteBlock(body)
	state := conversation.Rebuild(review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Origin: 9, Comments: []review.Comment{{DatabaseID: 1, Body: body}}}}},
		func(review.Comment) conversation.Opened {
			return conversation.Opened{Marked: true, Own: true, Nonce: "nonce", Part: 2, Block: block}
		})
	if len(state.Threads) != 1 {
		t.Fatalf("no thread is known: %+v", state.Metadata)
	}
	var by []string
	for _, f := range state.Threads[0].Shown() {
		by = append(by, f.Source.Name)
	}
	slices.Sort(by)
	if want := []string{"a", "honest", "x1", "x2", "x3"}; !slices.Equal(by, want) {
		t.Errorf("the thread is from %q, want %q", by, want)
	}
}

// What stands for several has a comment on lines only where all stand in one file.
func TestWhatStandsForSeveralHasOnePlace(t *testing.T) {
	d, err := diff.Parse(edited(10))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*diff.File{"a.go": &d.Files[0]}
	part := at(review.P3, 10, "A", leak)
	for file, want := range map[string]bool{"a.go": true, "": false} {
		j := verdict{matched: matched{gathered: gathered{findings: []review.Finding{{ID: review.PrefixSeveral + "STYLE", Priority: review.P2, File: file, Parts: []review.Finding{part, part}}}}}}
		if _, ok := j.placed([]int{0}, files); ok != want {
			t.Errorf("in %q: %v", file, ok)
		}
	}
}
