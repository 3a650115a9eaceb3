package threads

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/prloop/prloop/review"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func member(name string) review.Person { return review.Person{Login: name, Association: "MEMBER"} }

func said(p review.Person, body string) review.Comment {
	return review.Comment{Author: p, Body: body, CreatedAt: noon}
}

func TestReviewState(t *testing.T) {
	rev := func(who, state string, hour int) review.Review {
		return review.Review{ID: fmt.Sprint(who, hour), Author: member(who), State: state, SubmittedAt: noon.Add(time.Duration(hour) * time.Hour)}
	}
	byID := func(login string, state string, hour int) review.Review {
		r := rev(login, state, hour)
		r.Author.ID = 7
		return r
	}
	for _, c := range []struct {
		rule    string
		reviews []review.Review
		want    []string
	}{
		{"nobody has reviewed: nobody asks for changes (spec.md A3)", nil, nil},
		{"a request for changes stands (spec.md A3)", []review.Review{rev("ann", "CHANGES_REQUESTED", 1)}, []string{"ann"}},
		{"a later approval by the same person replaces it", []review.Review{rev("ann", "CHANGES_REQUESTED", 1), rev("ann", "APPROVED", 2)}, nil},
		{"the order of reading does not matter, the time does", []review.Review{rev("ann", "APPROVED", 2), rev("ann", "CHANGES_REQUESTED", 1)}, nil},
		{"a later comment decides nothing", []review.Review{rev("ann", "CHANGES_REQUESTED", 1), rev("ann", "COMMENTED", 2)}, []string{"ann"}},
		{"a pending review decides nothing", []review.Review{rev("ann", "APPROVED", 1), rev("ann", "PENDING", 2)}, nil},
		{"a dismissed request no longer stands", []review.Review{rev("ann", "DISMISSED", 1)}, nil},
		{"another person's approval does not replace it", []review.Review{rev("ann", "CHANGES_REQUESTED", 1), rev("bob", "APPROVED", 2)}, []string{"ann"}},
		{"a renamed account is one person", []review.Review{byID("old", "CHANGES_REQUESTED", 1), byID("new", "APPROVED", 2)}, nil},
		{"at the same instant the request for changes wins", []review.Review{rev("ann", "CHANGES_REQUESTED", 1), rev("ANN", "APPROVED", 1)}, []string{"ann"}},
		{"names are listed in order", []review.Review{rev("Zoe", "CHANGES_REQUESTED", 1), rev("ann", "CHANGES_REQUESTED", 1)}, []string{"ann", "Zoe"}},
		{"a deleted account is called ghost", []review.Review{rev("", "CHANGES_REQUESTED", 1)}, []string{"ghost"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := Analyze(review.Discussion{Reviews: c.reviews}, 1).ReviewState
			var names []string
			for _, p := range got.ChangesRequestedBy {
				names = append(names, p.Login)
				if p.Association != "MEMBER" {
					t.Errorf("association %q was not kept", p.Association)
				}
			}
			if diff := cmp.Diff(c.want, names); diff != "" {
				t.Error(diff)
			}
			if got.HasChangesRequested != (len(c.want) > 0) {
				t.Errorf("hasChangesRequested = %v", got.HasChangesRequested)
			}
		})
	}
}

func TestPriorityOfThread(t *testing.T) {
	stranger := review.Person{Login: "eve", Association: "NONE"}
	for _, c := range []struct {
		rule string
		who  review.Person
		body string
		old  bool
		want review.Priority
	}{
		{"an open thread is P2 by default", member("ann"), "This loses the last element.", false, review.P2},
		{"a nit is P3", member("ann"), "nit: spelling", false, review.P3},
		{"a nit in bold without colon is P3", member("ann"), "**Nit** I would call it x", false, review.P3},
		{"a labelled suggestion is P3", member("ann"), "suggestion: use a map", false, review.P3},
		{"non-blocking is P3 whatever the label", member("ann"), "issue (non-blocking): slow", false, review.P3},
		{"blocking by a member is P1", member("ann"), "issue (blocking, security): token is logged", false, review.P1},
		{"blocking by an outsider stays P2 (decision 9)", stranger, "issue (blocking): I dislike it", false, review.P2},
		{"a member states P0", member("ann"), "P0: drops the table", false, review.P0},
		{"a member states P1 to somebody", member("ann"), "@octocat P1: drops the table", false, review.P1},
		{"a member states P1 as a heading", member("ann"), "### P1 drops the table", false, review.P1},
		{"a member states P1 in bold by underscores", member("ann"), "__P1__ drops the table", false, review.P1},
		{"a member names something that begins so", member("ann"), "P1_handler drops the table", false, review.P2},
		{"a member states P1 in a list, as code", member("ann"), "- `P1` drops the table", false, review.P1},
		{"a member states P1 behind a sign", member("ann"), "🔴 P1: drops the table", false, review.P1},
		{"a member states P1 behind a sign of two characters", member("ann"), "⚠️ **P1** drops the table", false, review.P1},
		{"a member states P1 behind the name of a sign", member("ann"), ":rotating_light: P1: drops the table", false, review.P1},
		{"what is ticked off by the name of a sign", member("ann"), ":white_check_mark: P1 is fixed.", false, review.P2},
		{"a member states that it is a P1 still", member("ann"), "Still a P1: drops the table", false, review.P1},
		{"a member states P1 again", member("ann"), "Still P1: drops the table", false, review.P1},
		{"a member names the priority", member("ann"), "Priority: P1\n\nDrops the table.", false, review.P1},
		{"a member names the priority in bold", member("ann"), "**Priority:** **P1** drops the table", false, review.P1},
		{"a member names the severity", member("ann"), "Severity - P0", false, review.P0},
		{"a member states P1 in HTML", member("ann"), "<b>P1</b> drops the table", false, review.P1},
		{"a member states P1 to several", member("ann"), "@octocat @acme/shop-team P1 drops the table", false, review.P1},
		{"a member states P1 with a badge", member("ann"), "![P1](https://example.com/p1.svg) drops the table", false, review.P1},
		{"an outsider who names the priority gets P2", stranger, "🔴 Priority: P1", false, review.P2},
		{"prose that mentions a P1", member("ann"), "This was a P1 in the old shop.", false, review.P2},
		{"prose about priorities", member("ann"), "Priority P1 tickets are elsewhere.", false, review.P2},
		{"what is quoted in a sentence", member("ann"), "\"P1\" is too much here.", false, review.P2},
		{"what is struck out", member("ann"), "~~P1~~ I see.", false, review.P2},
		{"what is ticked off", member("ann"), "✅ P1 is fixed.", false, review.P2},
		{"what is fixed", member("ann"), "P1 is fixed, thanks.", false, review.P2},
		{"what was resolved, in bold", member("ann"), "**P0** was resolved in 1a2b3c4.", false, review.P2},
		{"what is fixed in part", member("ann"), "P1 is fixed, but it still drops the table", false, review.P1},
		{"what is fixed here and not there", member("ann"), "P1 is fixed for GET. POST leaks the token.", false, review.P1},
		{"what is fixed, and what is asked then", member("ann"), "P1 is fixed. Who tests it", false, review.P1},
		{"what is fixed beside another", member("ann"), "P1 is fixed.\nP0: drops the table", false, review.P1},
		{"what is not fixed", member("ann"), "P1 is not fixed.", false, review.P1},
		{"what is not there", member("ann"), "P1 is missing here.", false, review.P1},
		{"an outsider who states P0 gets P2", stranger, "P0: drops the table", false, review.P2},
		{"a stated P3 is P3 for anybody", stranger, "[P3] rename", false, review.P3},
		{"a question for information is P3", member("ann"), "Why is this a pointer?", false, review.P3},
		{"two questions for information are P3", member("ann"), "What is this? Is it used?", false, review.P3},
		{"a request in the shape of a question is P2", member("ann"), "Can you lock this?", false, review.P2},
		{"a doubt in the shape of a question is P2", member("ann"), "Shouldn't this be locked?", false, review.P2},
		{"a question with a statement is P2", member("ann"), "Why a pointer? This crashes.", false, review.P2},
		{"a quoted nit is not the speaker's word", member("ann"), "> nit: spelling\n\nNo, this is wrong.", false, review.P2},
		{"code is not the speaker's word", member("ann"), "```\nwhy?\n```\nThis is wrong.", false, review.P2},
		{"an outdated thread is P3", member("ann"), "This loses the last element.", true, review.P3},
		{"an outdated thread that blocks stays P1", member("ann"), "issue (blocking): token is logged", true, review.P1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := Analyze(review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Outdated: c.old, Comments: []review.Comment{said(c.who, c.body)}}}}, 1)
			if len(got.PendingIssues) != 1 {
				t.Fatalf("%d pending findings, want 1", len(got.PendingIssues))
			}
			if p := got.PendingIssues[0].Priority; p != c.want {
				t.Errorf("priority %s, want %s", p, c.want)
			}
		})
	}
}

// In a thread of prloop's own that people take up after a cure, what one of them says is grave counts as that, whoever spoke first.
func TestGravestOfACuredThread(t *testing.T) {
	said := []review.Comment{said(member("ann"), "This is not fixed."), said(member("bob"), "P1: no, it is not.")}
	for cured, want := range map[bool]review.Priority{true: review.P1, false: review.P2} {
		got := Analyze(review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Cured: cured, Comments: said}}}, 1)
		if p := got.PendingIssues[0].Priority; p != want {
			t.Errorf("cured %t: %s, want %s", cured, p, want)
		}
	}
}

// Of a thread that people take up after a cure GitHub says that it is outdated, as the code is gone: what they want is no suggestion.
func TestOutdatedCuredThread(t *testing.T) {
	for cured, want := range map[bool]review.Priority{true: review.P2, false: review.P3} {
		got := Analyze(review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Outdated: true, Cured: cured, Comments: []review.Comment{said(member("ann"), "This is not fixed.")}}}}, 1)
		if p := got.PendingIssues[0].Priority; p != want {
			t.Errorf("cured %t: %s, want %s", cured, p, want)
		}
	}
}

func TestPending(t *testing.T) {
	line := 12
	d := review.Discussion{
		Truncated: true,
		Threads: []review.Thread{
			{ID: "T1", Resolved: true, Comments: []review.Comment{said(member("ann"), "done")}},
			{ID: "T2", File: "a.go", Line: &line, Comments: []review.Comment{said(member("ann"), "This loses\nthe last one."), said(member("bob"), "I disagree.")}},
			{ID: "T3", File: "b.go"},
			{ID: "T4", File: "c.go", Comments: []review.Comment{{Author: member("ann"), Body: "off topic", Minimized: true}}},
		},
		Reviews: []review.Review{
			{ID: "R1", Author: member("ann"), State: "CHANGES_REQUESTED", Body: "nit: please split this.", SubmittedAt: noon},
			{ID: "R2", Author: review.Person{Login: "eve"}, State: "CHANGES_REQUESTED", Body: "No.", SubmittedAt: noon},
			{ID: "R3", Author: member("cid"), State: "CHANGES_REQUESTED", SubmittedAt: noon},
			{ID: "R4", Author: member("dan"), State: "COMMENTED", Body: "Some thoughts.", SubmittedAt: noon},
		},
	}
	got := Analyze(d, 9)
	if want := (review.ThreadStats{Total: 4, Resolved: 1, Unresolved: 3}); got.Stats != want {
		t.Errorf("stats %+v, want %+v", got.Stats, want)
	}
	if !got.ThreadsTruncated || got.PRNumber != 9 {
		t.Errorf("truncated %v, number %d", got.ThreadsTruncated, got.PRNumber)
	}
	var list []string
	for _, f := range got.PendingIssues {
		list = append(list, fmt.Sprintf("%s %s %s %s", f.ID, f.Priority, f.Source.Type, f.Title))
	}
	want := []string{
		"review-R1 P2 review nit: please split this.", // a requested change is never a nit
		"thread-T2 P2 comment This loses",
		"review-R2 P3 review No.", // rule 0 does not listen to outsiders
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if got.Issues != (review.Counts{P2: 2, P3: 1}) {
		t.Errorf("counts %+v", got.Issues)
	}
	thread := got.PendingIssues[1]
	if *thread.Line != 12 || *thread.Source.ReviewID != "T2" || !strings.Contains(thread.Description, "> I disagree.") {
		t.Errorf("thread finding %+v", thread)
	}
}

// Our own threads are our findings, counted once (threats.md T158): what people answer in them is no finding beside it, unless somebody
// who may block says that it is P0 or P1.
func TestOwnThreads(t *testing.T) {
	visitor := review.Person{Login: "eve", Association: "NONE"}
	for _, c := range []struct {
		what    string
		replies []review.Comment
		want    int
	}{
		{"nobody answered", nil, 0},
		{"a developer disagrees", []review.Comment{said(member("ann"), "This never happens.")}, 0},
		{"a member says that it blocks", []review.Comment{said(member("ann"), "P1: it does happen.")}, 1},
		{"after others spoke", []review.Comment{said(visitor, "Hm."), said(member("ann"), "P0: it does happen.")}, 1},
		{"a visitor says that it blocks", []review.Comment{said(visitor, "P0: stop everything.")}, 0},
	} {
		d := review.Discussion{Threads: []review.Thread{{ID: "T1", File: "a.go", Own: true, Comments: c.replies}, {ID: "T2", File: "a.go", Resolved: true}}}
		got := Analyze(d, 7)
		if len(got.PendingIssues) != c.want || got.Stats != (review.ThreadStats{Total: 1, Resolved: 1}) {
			t.Errorf("%s: %d findings, %+v", c.what, len(got.PendingIssues), got.Stats)
		}
	}
}

func TestLongThreadIsShortened(t *testing.T) {
	var all []review.Comment
	for i := range 12 {
		all = append(all, said(member("ann"), fmt.Sprintf("comment %d", i)))
	}
	all[0].Body = strings.Repeat("ä", 5000)
	d := Analyze(review.Discussion{Threads: []review.Thread{{ID: "T", Comments: all}}}, 1).PendingIssues[0].Description
	if !strings.Contains(d, "(6 replies in between are not shown)") || strings.Contains(d, "comment 6") || !strings.Contains(d, "comment 7") {
		t.Error("the newest five replies should follow the first comment:", d)
	}
	if strings.Count(d, "ä") != commentLimit {
		t.Errorf("%d characters of the first comment", strings.Count(d, "ä"))
	}
}

func TestRefine(t *testing.T) {
	base := Analyze(review.Discussion{Threads: []review.Thread{
		{ID: "T1", Comments: []review.Comment{said(member("ann"), "Wrong.")}},
		{ID: "T2", Comments: []review.Comment{said(member("ann"), "nit: x")}},
		{ID: "T3", Comments: []review.Comment{said(member("ann"), "P0: boom")}},
	}}, 1)
	for _, c := range []struct {
		rule  string
		claim review.Finding
		id    string
		want  review.Priority
		notes int
	}{
		{"P2 may be raised to P1", review.Finding{ID: "thread-T1", Priority: review.P1}, "thread-T1", review.P1, 0},
		{"no analyzer makes a P0", review.Finding{ID: "thread-T1", Priority: review.P0}, "thread-T1", review.P1, 1},
		{"a pending finding is never lowered", review.Finding{ID: "thread-T1", Priority: review.P3}, "thread-T1", review.P2, 1},
		{"P3 rises one step at most", review.Finding{ID: "thread-T2", Priority: review.P0}, "thread-T2", review.P2, 1},
		{"a P0 given by the rules stays", review.Finding{ID: "thread-T3", Priority: review.P1}, "thread-T3", review.P0, 1},
		{"an invalid priority changes nothing", review.Finding{ID: "thread-T1", Priority: "P9"}, "thread-T1", review.P2, 0},
		{"a claim about nothing is dropped", review.Finding{ID: "thread-T9", Priority: review.P0}, "thread-T1", review.P2, 1},
		{"the thread id matches too", review.Finding{ID: "x", Priority: review.P1, Source: review.Source{ReviewID: new("T1")}}, "thread-T1", review.P1, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, notes := Refine(base, []review.Finding{c.claim})
			if len(notes) != c.notes {
				t.Errorf("notes %q", notes)
			}
			if len(got.PendingIssues) != 3 {
				t.Fatalf("%d findings: an analyzer removed or added one", len(got.PendingIssues))
			}
			for _, f := range got.PendingIssues {
				if f.ID == c.id && f.Priority != c.want {
					t.Errorf("priority %s, want %s", f.Priority, c.want)
				}
			}
			if got.Issues != review.Count(got.PendingIssues) {
				t.Error("counts were not brought up to date")
			}
		})
	}
	got, notes := Refine(base, []review.Finding{{ID: "thread-T1", Title: "Loses\nan element", Description: "Because."}, {ID: "thread-T1", Title: "again"}})
	for _, f := range got.PendingIssues {
		if f.ID == "thread-T1" && (f.Title != "Loses an element" || f.Description != "Because.") {
			t.Errorf("refined finding %+v", f)
		}
	}
	if len(notes) != 1 || base.PendingIssues[1].Title != "Wrong." {
		t.Errorf("notes %q; base changed: %+v", notes, base.PendingIssues[1])
	}
}

// No order of arrival may show in the result, and no refinement may lose a finding or lower one.
func TestOrderAndRefinementLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SampledFrom([]string{"", "nit: a", "Why?", "P1: b", "wrong", "> q", "issue (blocking): c"})
		var d review.Discussion
		for i := range rapid.IntRange(0, 6).Draw(t, "threads") {
			d.Threads = append(d.Threads, review.Thread{
				ID: fmt.Sprint(i), Resolved: rapid.Bool().Draw(t, "resolved"), Outdated: rapid.Bool().Draw(t, "outdated"),
				Comments: []review.Comment{said(member("ann"), bodies.Draw(t, "body"))},
			})
			d.Reviews = append(d.Reviews, review.Review{
				ID: fmt.Sprint(i), Author: member(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who")), Body: bodies.Draw(t, "review"),
				State: rapid.SampledFrom(append(decisive, "COMMENTED")).Draw(t, "state"), SubmittedAt: noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "hour")) * time.Hour),
			})
		}
		want := Analyze(d, 1)
		mixed := review.Discussion{Threads: rapid.Permutation(d.Threads).Draw(t, "t"), Reviews: rapid.Permutation(d.Reviews).Draw(t, "r")}
		if diff := cmp.Diff(want, Analyze(mixed, 1)); diff != "" {
			t.Fatal(diff)
		}
		var claims []review.Finding
		for _, f := range want.PendingIssues {
			f.Priority = rapid.SampledFrom([]review.Priority{"P0", "P1", "P2", "P3", "x"}).Draw(t, "claim")
			claims = append(claims, f)
		}
		before := map[string]int{}
		for _, f := range want.PendingIssues {
			before[f.ID] = f.Priority.Rank()
		}
		got, _ := Refine(want, claims)
		for _, f := range got.PendingIssues {
			old, known := before[f.ID]
			if !known || f.Priority.Rank() > old || f.Priority == review.P0 && old != 0 {
				t.Fatalf("%s went from rank %d to %s", f.ID, old, f.Priority)
			}
		}
		if len(got.PendingIssues) != len(want.PendingIssues) {
			t.Fatal("a finding was lost")
		}
	})
}
