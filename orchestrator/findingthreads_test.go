package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/review"
)

// showing is a thread with these wordings that a person resolved who may.
func showing(said ...review.Finding) conversation.Thread {
	t := threadOf(said[0], 1)
	t.Closed, t.ClosedBy, t.By, t.Evidence, t.Origin.Quoted = true, "boss", said[0].Source.Name, said[0].Evidence, said[0].Quoted
	for _, f := range said {
		t.RaisedBy = append(t.RaisedBy, f.Source.Name)
	}
	for _, f := range said[1:] {
		w := conversation.Wording{By: f.Source.Name, Finding: f.Title, Assessment: f.Description, Category: f.Category, Priority: f.Priority, Evidence: f.Evidence}
		w.Quoted = f.Quoted
		if f.Line != nil {
			w.Line = *f.Line
		}
		t.Also = append(t.Also, w)
	}
	return t
}

// quoting is a finding on another line with another quote, which stands there.
func quoting(f review.Finding, line int, quote string) review.Finding {
	if f.Line, f.Evidence = &line, quote; quote != "" {
		f.Quoted = [2]int{line, line + strings.Count(quote, "\n")}
	}
	return f
}

// Whoever resolves the thread of a finding settles what the thread shows: what that reviewer said, as grave, of code that is still as it
// was (threats.md T374, T375). All else is open, and is said in a thread of its own.
func TestWhatResolvingAThreadSettles(t *testing.T) {
	first := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	again := saidBy("one", first, "Division by zero in Mean for an empty list")
	other := saidBy("two", first, "Mean of an empty list divides by zero, and the service dies")
	as := func(f review.Finding, change func(*review.Finding)) review.Finding {
		change(&f)
		return f
	}
	end, later := 12, 18
	masked := as(first, func(f *review.Finding) { f.Evidence = `k = "[REDACTED]"` })
	minor := as(first, func(f *review.Finding) { f.Priority = review.P2 })
	security := func(f *review.Finding) { f.Category = "security" }
	bridge := saidBy("three", first, "Mean of an empty list divides by zero; Cache grows without bound for a shelf")
	bridge.Description = bridge.Title
	far := as(first, func(f *review.Finding) {
		f.Line, f.Title, f.Description = &later, "Cache grows without bound for a shelf", ""
	})
	unnamed := showing(first)
	unnamed.By, unnamed.RaisedBy = "", []string{"one", "two"}
	nobody := showing(first)
	nobody.By, nobody.RaisedBy = "", nil
	outdated, outdatedMinor := showing(first), showing(minor)
	outdated.Line, outdatedMinor.Line, outdated.Origin.Line, outdatedMinor.Origin.Line = 0, 0, 9, 9
	for _, c := range []struct {
		what    string
		thread  conversation.Thread
		found   []review.Finding
		changed [][2]int
		why     string // it is open; empty when it is settled
	}{
		{"the same words", showing(first), []review.Finding{first}, nil, ""},
		{"other words", showing(first), []review.Finding{again}, nil, ""},
		{"something else of the same line", showing(quoting(first, 9, "return Count(shelves) / len(shelves)")), []review.Finding{as(quoting(first, 9, "return Count(shelves) / len(shelves)"), func(f *review.Finding) {
			f.Title, f.Description = "Untrusted callers reach confidential totals", "Any request obtains figures that belong to somebody else."
		})}, nil, "it says something else of that code"},
		{"its reviewer names a line that was added", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Named = [2]int{7, 7} })}, [][2]int{{6, 8}}, "its code has changed since"},
		{"its reviewer names another line", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Named = [2]int{5, 5} })}, [][2]int{{6, 8}}, ""},
		{"that of a P2 names one that was added", showing(minor), []review.Finding{as(minor, func(f *review.Finding) { f.Named = [2]int{7, 7} })}, [][2]int{{6, 8}}, ""},
		{"code elsewhere changed", showing(first), []review.Finding{again}, [][2]int{{1, 8}, {10, 20}}, ""},
		{"its line changed", showing(first), []review.Finding{again}, [][2]int{{9, 9}}, "its code has changed since"},
		{"one of its lines changed", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.LineEnd = &end })}, [][2]int{{12, 13}}, "its code has changed since"},
		{"its quote reaches what changed", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Evidence = "line 8\nline 9" })}, [][2]int{{8, 8}}, "its code has changed since"},
		{"it has no line, and the file changed", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Line = nil })}, [][2]int{{1, 1}}, "its code has changed since"},
		{"its quote has a mask, and code elsewhere changed", showing(masked), []review.Finding{masked}, [][2]int{{1, 5}, {13, 20}}, ""},
		{"its quote has a mask, and a line near it changed", showing(masked), []review.Finding{masked}, [][2]int{{7, 7}}, "its code has changed since"},
		{"a P0 that was a P1", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Priority = review.P0 })}, nil, "it was said to be less grave, or not to be about security"},
		{"security that was not", showing(first), []review.Finding{as(again, security)}, nil, "it was said to be less grave, or not to be about security"},
		{"a P1 that was a P2", showing(minor), []review.Finding{again}, nil, "it was said to be less grave, or not to be about security"},
		{"a P2 that was a P1", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Priority = review.P2 })}, nil, ""},
		{"a P2 that was a P1, in changed code", showing(first), []review.Finding{as(again, func(f *review.Finding) { f.Priority = review.P2 })}, [][2]int{{9, 9}}, "its code has changed since"},
		{"a P2", showing(minor), []review.Finding{minor}, [][2]int{{1, 8}, {10, 20}}, ""},
		{"a P2, in changed code", showing(minor), []review.Finding{minor}, [][2]int{{9, 9}}, "its code has changed since"},
		{"a P2 that was a P3", showing(as(first, func(f *review.Finding) { f.Priority = review.P3 })), []review.Finding{minor}, nil, "it was said to be less grave, or not to be about security"},
		{"a P2 of another reviewer", showing(minor), []review.Finding{as(other, func(f *review.Finding) { f.Priority = review.P2 })}, nil, ""},
		{"a P2 that another reviewer joins from new code", showing(minor), []review.Finding{minor, as(other, func(f *review.Finding) { f.Priority, f.Line = review.P2, &later })}, [][2]int{{17, 19}}, "its code has changed since"},
		{"a P2 that another reviewer joins from other code", showing(minor), []review.Finding{minor, as(other, func(f *review.Finding) { f.Priority, f.Line = review.P2, &later })}, nil, "it is about other code"},
		{"its line is gone", outdated, []review.Finding{first}, nil, "its code has changed since"},
		{"that of a P2 is", outdatedMinor, []review.Finding{minor}, nil, "its code has changed since"},
		{"another reviewer", showing(first), []review.Finding{other}, nil, "the thread does not have it from `two`"},
		{"another one too", showing(first), []review.Finding{first, other}, nil, "the thread does not have it from `two`"},
		{"both are in the thread", showing(first, other), []review.Finding{again, other}, nil, ""},
		{"both are, and one is heard again", showing(first, other), []review.Finding{other}, nil, ""},
		{"one says P1 what was a P2 of theirs", showing(first, as(other, func(f *review.Finding) { f.Priority = review.P2 })), []review.Finding{other}, nil, "it was said to be less grave, or not to be about security"},
		{"an older thread, which tells no wordings apart", unnamed, []review.Finding{again, other}, nil, ""},
		{"one that names nobody", nobody, []review.Finding{again}, nil, ""},
		{"a minor one of somebody else goes along", showing(first), []review.Finding{again, as(other, func(f *review.Finding) { f.Priority = review.P2 })}, nil, ""},
		{"a minor one takes no grave one along", showing(minor), []review.Finding{minor, other}, nil, "the thread does not have it from `two`"},
		{"what somebody joins with it is not it", showing(first, bridge), []review.Finding{far, bridge}, nil, "it is about other code"},
		{"other code close by", showing(quoting(first, 9, "return Count(shelves) / len(shelves)")), []review.Finding{quoting(again, 12, "return shelf / Count(shelves)")}, nil, "it is about other code"},
		{"more of the same code", showing(quoting(first, 9, "return Count(shelves) / len(shelves)")), []review.Finding{quoting(again, 8, "n := 0\nreturn Count(shelves) / len(shelves)")}, nil, ""},
		{"a line besides, of who quotes nothing", showing(quoting(first, 9, "return Count(shelves) / len(shelves)")), []review.Finding{quoting(again, 7, "")}, nil, ""},
		{"many lines besides, of who quotes nothing", showing(quoting(first, 9, "return Count(shelves) / len(shelves)")), []review.Finding{quoting(again, 14, "")}, nil, "it is about other code"},
		{"the whole of the next function", showing(quoting(first, 9, "one {\n\tdivides()\n}")), []review.Finding{quoting(again, 12, "two {\n\tdivides()\n}")}, nil, "it is about other code"},
		{"many lines, and a quote elsewhere", showing(quoting(first, 9, "one()")), []review.Finding{as(quoting(again, 18, "two()"), func(f *review.Finding) { f.Line, f.LineEnd = first.Line, &later })}, nil, "it is about other code"},
		{"what another reviewer quotes far and wide", showing(quoting(minor, 9, "one {\n\n\n\n\n\n\n\n\n}")), []review.Finding{as(quoting(other, 18, "two()"), func(f *review.Finding) { f.Priority = review.P2 })}, nil, "it is about other code"},
		{"many lines, and the same quote", showing(quoting(first, 9, "one()")), []review.Finding{as(quoting(again, 9, "one()"), func(f *review.Finding) { f.LineEnd = &later })}, nil, ""},
		{"no line, and the same quote", showing(quoting(first, 9, "one()")), []review.Finding{as(quoting(again, 9, "one()"), func(f *review.Finding) { f.Line = nil })}, nil, ""},
		{"neither a line nor a quote", showing(quoting(first, 9, "one()")), []review.Finding{as(again, func(f *review.Finding) { f.Line = nil })}, nil, "it is about other code"},
		{"each has code of its own", showing(quoting(first, 9, "one()"), quoting(other, 12, "two()")), []review.Finding{quoting(first, 9, "one()"), quoting(other, 12, "two()")}, nil, ""},
	} {
		in := raised(c.found, c.thread)
		in.Snapshot.Changed, in.Snapshot.Spots = map[string][][2]int{"1": c.changed}, map[string][]Spot{"1": nil}
		for _, was := range c.thread.Places() {
			in.Snapshot.Spots["1"] = append(in.Snapshot.Spots["1"], Spot{was, c.thread.Line == 0})
		}
		j := Judge(in)
		if open := j.Result.Outcome != review.Converged; open != (c.why != "") || open == (len(j.Result.Dismissed) > 0) {
			t.Errorf("%s: %s, dismissed %v", c.what, j.Result.Outcome, j.Result.Dismissed)
			continue
		}
		if len(j.reopened) > 0 {
			t.Errorf("%s: reopened %v", c.what, j.reopened)
		}
		sameAgain(t, in, j)
		if c.why == "" {
			continue
		}
		if !strings.Contains(j.Report, "that `boss` resolved does not settle this: "+c.why+".") {
			t.Errorf("%s: nobody is told that %q:\n%s", c.what, c.why, j.Report)
		}
		if c.found[0].Line == nil {
			continue // there is no place for a thread
		}
		if len(j.proposed) != 1 || !strings.HasSuffix(j.proposed[0].shown.Reason, c.why) {
			t.Errorf("%s: it is not said in a thread of its own: %+v", c.what, j.proposed)
			continue
		}
		second := showing(append([]review.Finding{j.proposed[0].lead}, j.proposed[0].also...)...)
		second.ID, second.Head = "2", "head"
		in.Snapshot.Conversation.Threads = append(in.Snapshot.Conversation.Threads, second)
		if j := Judge(in); j.Result.Outcome != review.Converged {
			t.Errorf("%s: somebody resolved that too, and it is %s", c.what, j.Result.Outcome)
		}
	}
}

// What is nearest to an open thread, no other thread settles that quotes the same code, also where it is not known where that stands (threats.md T392).
func TestAnOpenThreadKeepsItsFinding(t *testing.T) {
	at := func(line int, title string) review.Finding {
		f := saidBy("one", foundAt(review.P1, line, ""), title)
		f.Evidence = "return Count(shelves) / len(shelves)"
		return f
	}
	helper, public := at(14, "MeanOfTests divides by zero without a shelf"), at(49, "Mean divides by zero for a shop that has no shelves")
	reworded := at(49, helper.Title)
	other := saidBy("two", public, public.Title)
	resolved, open := showing(helper), showing(public)
	open.ID, open.Closed, open.ClosedBy = "2", false, ""
	outdated, ofOther, byAuthor := resolved, showing(other), open
	outdated.Line, ofOther.ID, ofOther.Closed, ofOther.ClosedBy = 0, "2", false, ""
	byAuthor.Closed, byAuthor.ClosedBy = true, "ada"
	for what, c := range map[string]struct {
		resolved, open conversation.Thread
		found          review.Finding
		settled        bool
	}{
		"what was resolved":                {resolved, open, helper, true},
		"what is open":                     {resolved, open, public, false},
		"what is open, in the other words": {resolved, open, reworded, false},
		"what was resolved is outdated":    {outdated, open, reworded, false},
		"somebody else's is open":          {resolved, ofOther, public, false},
		"the author resolved the other":    {resolved, byAuthor, public, false},
	} {
		in := raised([]review.Finding{c.found}, c.resolved, c.open)
		j := Judge(in)
		if settled := j.Result.Outcome == review.Converged; settled != c.settled || settled != (len(j.Result.Dismissed) == 1) || len(j.proposed) > 0 {
			t.Errorf("%s: %s, dismissed %v, proposed %+v", what, j.Result.Outcome, j.Result.Dismissed, j.proposed)
		}
		sameAgain(t, in, j)
	}
}

// A thread that the author resolved is opened again, as ever, and one that is open is not said twice, whoever says it.
func TestThreadsThatNobodySettled(t *testing.T) {
	first := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	other := saidBy("two", first, "Mean of an empty list divides by zero, and the service dies")
	open, byAuthor := showing(first), showing(first)
	open.Closed, open.ClosedBy, byAuthor.ClosedBy = false, "", "ada"
	for what, c := range map[string]struct {
		thread   conversation.Thread
		found    review.Finding
		reopened int
	}{
		"open":                                {open, first, 0},
		"open, found by somebody else":        {open, other, 0},
		"by the author":                       {byAuthor, first, 1},
		"by the author, found by who did not": {byAuthor, other, 1},
	} {
		j := Judge(raised([]review.Finding{c.found}, c.thread))
		if j.Result.Outcome != review.ChangesRequested || len(j.proposed) > 0 || len(j.reopened) != c.reopened {
			t.Errorf("%s: %s, proposed %+v, reopened %v", what, j.Result.Outcome, j.proposed, j.reopened)
		}
	}
}

// differing is a history in which some commits differ from the head.
type differing struct {
	shelf
	since map[string]string
}

func (d differing) Diff(_ context.Context, base, _ string) (*diff.Diff, error) {
	text, ok := d.since[base]
	if !ok {
		return nil, errors.New("no such commit")
	}
	return diff.Parse(text)
}

// What changed since threads were opened is asked of those alone that a person settled, and all of it where the commit is gone.
func TestChangedSinceThreads(t *testing.T) {
	first := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	text := "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,4 @@\n line 1\n+line 2\n line 3\n line 4\n"
	var threads []conversation.Thread
	for i, head := range []string{"before", "gone", "head", "before"} {
		one := showing(first)
		one.ID, one.Head = fmt.Sprint(i+1), head
		threads = append(threads, one)
	}
	threads[3].ClosedBy = "ada"
	in := raised(nil, threads...)
	l := &Loop{History: differing{since: map[string]string{"before": text}}}
	at, err := l.follow(t.Context(), in.Snapshot)
	names, got := at.Names, at.Changed
	if err != nil || len(got) != 2 || !slices.Equal(got["1"], [][2]int{{2, 2}}) || len(got["2"]) != 1 || got["2"][0][1] < 1<<30 {
		t.Errorf("%v, %v", got, err)
	}
	if len(names) != 2 || names["1"] != "a.go" || names["4"] != "a.go" {
		t.Errorf("names: %v", names)
	}
	if len(at.Spots) != 2 || len(at.Spots["1"]) != 1 || at.Spots["1"][0].Line != 10 {
		t.Errorf("spots: %v", at.Spots)
	}
}

// A thread's file is called at the head what it became since the thread's own commit; the base tells only where that commit is gone (threats.md T393).
func TestThreadsFollowTheirFiles(t *testing.T) {
	one := showing(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero"))
	renamed := "diff --git a/a.go b/b.go\nsimilarity index 100%\nrename from a.go\nrename to b.go\n"
	deleted := "diff --git a/a.go b/a.go\ndeleted file mode 100644\nindex 1..0\n--- a/a.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n"
	l := &Loop{History: differing{since: map[string]string{"renamed": renamed, "deleted": deleted}}}
	for head, want := range map[string]string{"renamed": "b.go", "deleted": "a.go", "head": "a.go", "gone": "of-base.go"} {
		one.Head = head
		in := raised(nil, one)
		in.Snapshot.Brief.Files = []review.BriefFile{{Path: "of-base.go", OldPath: "a.go"}}
		var err error
		if in.Snapshot.Followed, err = l.follow(t.Context(), in.Snapshot); err != nil {
			t.Fatal(err)
		}
		if got := in.Snapshot.named(one); got != want {
			t.Errorf("%s: %q, want %q", head, got, want)
		}
	}
}

// A ruling of ours holds while the code that it is about, and the code that shows what we conceded, are as they were when we ruled (threats.md T399).
func TestWhatARulingRestsOn(t *testing.T) {
	edit := func(file string) string {
		return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex 1..2 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,4 +1,4 @@\n+line 0\n line 1\n line 2\n-line 3\n line 4\n", file)
	}
	l := &Loop{History: differing{since: map[string]string{"opened": edit("a.go"), "edited": edit("a.go"), "guard": edit("guard.go"), "other": edit("other.go"),
		"renamed": "diff --git a/guard.go b/moved.go\nsimilarity index 100%\nrename from guard.go\nrename to moved.go\n",
		"deleted": "diff --git a/guard.go b/guard.go\ndeleted file mode 100644\nindex 1..0\n--- a/guard.go\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-line 1\n",
		"parted":  "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -6,2 +6,3 @@\n line 6\n+func other() {\n line 7\n",
		"below":   "diff --git a/guard.go b/guard.go\nindex 1..2 100644\n--- a/guard.go\n+++ b/guard.go\n@@ -6,2 +6,3 @@\n line 6\n+// More.\n line 7\n",
		"ignored": "diff --git a/guard.go b/guard.go\nindex 1..2 100644\n--- a/guard.go\n+++ b/guard.go\n@@ -1,2 +1,4 @@\n+//go:build ignore\n+\n line 1\n line 2\n",
	}}}
	const all = 1 << 30
	some, none := [][2]int{{1, 1}, {3, 4}}, [][2]int(nil)
	for _, c := range []struct {
		what    string
		ruling  conversation.Ruling
		ruledAt string
		fact    *conversation.Place
		want    [][2]int
	}{
		{"on this head", conversation.Conceded, "head", &conversation.Place{File: "guard.go", Line: 3}, none},
		{"other files changed", conversation.Conceded, "other", &conversation.Place{File: "guard.go", Line: 3}, none},
		{"lines far above it changed", conversation.Conceded, "ignored", &conversation.Place{File: "guard.go", Line: 60, LineEnd: 70}, [][2]int{{1, all}}},
		{"lines above it and the finding changed", conversation.Conceded, "edited", &conversation.Place{File: "a.go", Line: 60}, [][2]int{{1, all}}},
		{"a line came between them", conversation.Conceded, "parted", &conversation.Place{File: "a.go", Line: 4, LineEnd: 5}, [][2]int{{1, all}}},
		{"lines below it changed", conversation.Conceded, "below", &conversation.Place{File: "guard.go", Line: 4, LineEnd: 6}, none},
		{"a line of it changed", conversation.Conceded, "below", &conversation.Place{File: "guard.go", Line: 4, LineEnd: 8}, [][2]int{{1, all}}},
		{"its file was renamed", conversation.Conceded, "renamed", &conversation.Place{File: "guard.go", Line: 3}, [][2]int{{1, all}}},
		{"its file is gone", conversation.Conceded, "deleted", &conversation.Place{File: "guard.go", Line: 1}, [][2]int{{1, all}}},
		{"somewhere in a file that changed", conversation.Conceded, "guard", &conversation.Place{File: "guard.go"}, [][2]int{{1, all}}},
		{"somewhere in a file that did not", conversation.Conceded, "other", &conversation.Place{File: "guard.go"}, none},
		{"nobody knows what shows it", conversation.Conceded, "other", nil, [][2]int{{1, all}}},
		{"nobody knows that commit", conversation.Conceded, "gone", &conversation.Place{File: "guard.go", Line: 1}, [][2]int{{1, all}}},
		{"lines of the file changed", conversation.Conceded, "edited", &conversation.Place{File: "guard.go", Line: 3}, some},
		{"it may wait", conversation.Later, "edited", nil, some},
		{"an answer that does not tell its commit", conversation.Later, "", nil, some},
		{"a person's word", conversation.Word, "guard", nil, none},
	} {
		one := threadOf(saidBy("one", foundAt(review.P2, 9, ""), "Mean of an empty list divides by zero"), 1)
		one.Head, one.Status, one.Closed, one.ClosedBy = "opened", conversation.Resolved, true, "boss"
		one.Ruling, one.RuledAt, one.Fact = c.ruling, c.ruledAt, c.fact
		at, err := l.follow(t.Context(), raised(nil, one).Snapshot)
		got := at.Changed["1"]
		if len(got) == 1 && got[0][1] > all {
			got[0][1] = all
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.what, got, err, c.want)
		}
	}
}

// The code of a thread is gone when all that its wordings quote stood in the file, read without what was copied with it, and nothing of it does any more. Of lines that the
// change took away nothing is gone, whatever becomes of the file (threats.md T603).
func TestGoneIsWhatEveryWordingQuotes(t *testing.T) {
	l := &Loop{History: shelf{"before": {"a.go": "n := two()\n+ 3\nreturn 1 / n\nreturn 2 / n\n"}, headSHA: {"a.go": "// more\nn := one()\nreturn 1 / n\n"}}}
	one := threadOf(saidBy("one", foundAt(review.P2, 1, ""), "The name could be shorter"), 1)
	one.Head = "before"
	for _, c := range []struct {
		lead, also string
		gone       bool
	}{
		{"return 1 / n", "", false}, {"n := two()", "", true}, {"n := two()", "return 1 / n", false}, {"n := two()", "return 2 / n", true}, {"", "return 2 / n", false},
		{"+return 1 / n", "", false}, {"3 | return 1 / n", "", false}, {"-return 0 / n\n+return 1 / n", "", false}, {"return 1 ... n", "", false}, {"`return 1 / n`", "", false},
		{"+return 2 / n", "", true}, {"4 | return 2 / n", "", true}, {"n := two() ... n", "", true}, {"+ 3", "", true},
		{"if n == 0 {", "", false}, {"-if n == 0 {", "", false}, {"n := two()", "if n == 0 {", false}, {"[REDACTED]", "", false},
	} {
		if one.Evidence, one.Also = c.lead, nil; c.also != "" {
			one.Also = []conversation.Wording{{By: "two", Finding: "Mean divides by zero", Priority: review.P2, Evidence: c.also}}
		}
		in := raised(nil, one)
		in.Snapshot.Range.Head = headSHA
		if err := l.became(t.Context(), &in.Snapshot); err != nil || (len(in.Snapshot.Gone) == 1) != c.gone {
			t.Errorf("%+v: %v, %v", c, in.Snapshot.Gone, err)
		}
	}
}

// A grave thread that is maintained counts while its code stands as it did (threats.md T600), but where the finding is raised, which counts by itself, or is
// dismissed, which people did.
func TestWhatThreadsWeigh(t *testing.T) {
	f := saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero")
	one := threadOf(f, 1)
	one.Maintained = "before"
	minor, elsewhere := f, f
	minor.Priority = review.P3
	line := 40
	elsewhere.Line = &line
	for what, c := range map[string]struct {
		findings  []review.Finding
		unchanged []string
		dismissed []review.Finding
		want      int
	}{
		"nobody raises it": {nil, []string{one.ID}, nil, 1}, "its code changed": {nil, nil, nil, 0},
		"it is raised": {[]review.Finding{f}, []string{one.ID}, nil, 0}, "it is raised as less grave": {[]review.Finding{minor}, []string{one.ID}, nil, 1},
		"it is dismissed": {nil, []string{one.ID}, []review.Finding{f}, 0}, "one that is less grave is": {nil, []string{one.ID}, []review.Finding{minor}, 1},
		"one of other code is": {nil, []string{one.ID}, []review.Finding{elsewhere}, 1},
	} {
		in := raised(c.findings, one)
		in.Snapshot.Unchanged = c.unchanged
		g := gather(in)
		for _, d := range c.dismissed {
			g.dismissed = append(g.dismissed, review.Dismissed{Finding: d})
		}
		if got := decide(match(g)).weighing(nil); len(got) != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// and adds a finding to what its reviewer answered; a reviewer that was not asked is.
func (in Inputs) and(f review.Finding) Inputs {
	at := slices.IndexFunc(in.Reports, func(h AgentReport) bool { return h.Answer.Receipt.Name == f.Source.Name })
	if at < 0 {
		at, in.Request.Agents = len(in.Reports), append(in.Request.Agents, AgentPlan{Name: f.Source.Name, Role: review.RoleReviewer, Kind: review.KindCommand})
		in.Reports = append(in.Reports, answered(f.Source.Name))
	}
	h := &in.Reports[at]
	h.Answer.Reviewer.Findings = append(h.Answer.Reviewer.Findings, f)
	h.Evidence = append(h.Evidence, evidence.Result{Status: evidence.None, Quoted: f.Quoted, Named: f.Named})
	return in
}

// A reviewer that repeats what an open thread says takes the thread from nobody: what stands in it stays open (threats.md T439).
func TestNobodyTakesAThreadFromAnother(t *testing.T) {
	const quote = "db.Query(base + name + order)"
	said := func(by string, p review.Priority, title, description string) review.Finding {
		f := quoting(saidBy(by, foundAt(p, 9, ""), title), 9, quote)
		f.Description = description
		return f
	}
	name := said("one", review.P1, "The name is written into the SQL text of the query", "Whoever sets the name runs SQL of their own.")
	order := said("one", review.P1, "The sort order is written into the SQL text of the query", "Whoever sets the order parameter runs SQL of their own.")
	again := said("one", review.P1, "The query's SQL text contains the sort order from the request", "An order parameter that is SQL is run by the database.")
	repeated, between := order, again
	repeated.Source.Name, repeated.Priority = "evil", review.P3
	between.Source.Name, between.Priority, between.Title = "evil", review.P3, "The query's SQL text contains the sort order of the request"
	settled, open := showing(name), showing(order)
	open.ID, open.Closed, open.ClosedBy = "2", false, ""
	if got := Judge(raised([]review.Finding{again}, settled, open).and(repeated).and(between)).Result; got.Outcome != review.ChangesRequested || slices.ContainsFunc(got.Dismissed, func(d review.Dismissed) bool { return d.Finding.Source.Name == "one" }) {
		t.Errorf("%s: %+v", got.Outcome, got.Dismissed)
	}
}

// What people settled of one reviewer's settles nothing that another said in an earlier round (threats.md T440).
func TestWhatIsSettledIsOneReviewers(t *testing.T) {
	p1 := quoting(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list of shelves divides by zero"), 9, "return Count(shelves) / len(shelves)")
	minor := quoting(saidBy("evil", foundAt(review.P3, 15, ""), "Mean of an empty list of shelves: the name could be longer"), 15, "func MeanOf(shelves []int) int")
	typo := saidBy("three", foundAt(review.P3, 30, ""), "Typo")
	typo.File = "b.go"
	remains := []review.EarlierVerdict{{FindingID: "F-1", Verdict: review.EarlierRemains, Why: "It still divides."}}
	for what, row := range map[string]struct {
		state   review.AgentState
		earlier []review.EarlierVerdict
		own     bool // one raises it again, and its own thread is resolved
		want    review.Outcome
	}{
		"who raised it broke off":            {review.AgentFailed, nil, false, review.Partial},
		"who raised it says that it remains": {review.AgentComplete, remains, false, review.Partial},
		"who raised it finds it no more":     {review.AgentComplete, nil, false, review.Converged},
		"a person resolved its own thread":   {review.AgentComplete, remains, true, review.Converged},
	} {
		own, other := showing(p1), showing(minor)
		own.ID, own.Node = "2", "T2"
		if !row.own {
			own.Closed, own.ClosedBy = false, ""
		}
		in := raised(nil, other, own).and(typo).and(p1)
		if !row.own {
			in = in.and(minor)
		}
		h := &in.Reports[slices.IndexFunc(in.Reports, func(h AgentReport) bool { return h.Answer.Receipt.Name == "one" })]
		if h.Answer.Receipt.State = row.state; !row.own {
			h.Answer.Reviewer.Findings, h.Evidence = nil, nil
		}
		h.Answer.Reviewer.Earlier = row.earlier
		if row.state == review.AgentFailed {
			h.Answer.Reviewer = nil
		}
		in.Round, in.Past = 2, []review.RoundResult{{Round: 1}}
		in.Earlier = []Tracked{{Findings: []review.Finding{p1}, No: 1, Round: 1, ID: "F-1", FixedIn: 1, Claim: &review.Claim{FindingID: "F-1", Kind: review.ClaimFixed, Text: "Fixed."}}}
		if j := Judge(in); j.Result.Outcome != row.want || row.want == review.Partial && len(j.cured) > 0 {
			t.Errorf("%s: %s: %s; cured %+v", what, j.Result.Outcome, j.Result.Reason, j.cured)
		}
	}
}

// Who says that a finding of before remains is heard where another raises it again and that does not count by itself (threats.md T440).
func TestADoubtIsHeardBesideAnother(t *testing.T) {
	p1 := quoting(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list of shelves divides by zero"), 9, "return Count(shelves) / len(shelves)")
	other := p1
	other.Source.Name = "evil"
	in := raised(nil).and(other).and(p1).and(saidBy("three", foundAt(review.P3, 30, ""), "Typo"))
	in.Request.MinSupport = 2
	for i := range in.Reports {
		if h := &in.Reports[i]; h.Answer.Receipt.Name == "one" {
			h.Answer.Reviewer.Findings, h.Evidence = nil, nil
			h.Answer.Reviewer.Earlier = []review.EarlierVerdict{{FindingID: "F-1", Verdict: review.EarlierRemains, Why: "It still divides."}}
		}
	}
	in.Round, in.Past = 2, []review.RoundResult{{Round: 1}}
	in.Earlier = []Tracked{{Findings: []review.Finding{p1, other}, No: 1, Round: 1, ID: "F-1"}}
	if got := Judge(in).Result; got.Outcome != review.Partial {
		t.Errorf("%s: %s", got.Outcome, got.Reason)
	}
}

// The same quote settles nothing of which the words say something else: not what an open thread says, and not what another reviewer says (threats.md T439).
func TestTheSameQuoteIsNotTheSameFinding(t *testing.T) {
	const quote = "return db.Query(base + name + order)"
	said := func(by string, p review.Priority, category, title, description string) review.Finding {
		f := quoting(saidBy(by, foundAt(p, 9, ""), title), 9, quote)
		f.Category, f.Description = category, description
		return f
	}
	name := said("one", review.P1, "security", "The name is written into the SQL text of the query", "Whoever sets the name runs SQL of their own.")
	order := said("one", review.P1, "bug", "The sort order is written into the SQL text of the query", "An order that is empty ends the query with an error.")
	again := order
	again.Category = "security"
	settled, open := showing(name), showing(order)
	open.ID, open.Closed, open.ClosedBy = "2", false, ""
	if got := Judge(raised([]review.Finding{again}, settled, open)).Result; got.Outcome != review.ChangesRequested || len(got.Dismissed) > 0 {
		t.Errorf("what an open thread says is settled by another: %s: %+v", got.Outcome, got.Dismissed)
	}
	slow := said("two", review.P2, "bug", "Rounding down loses pieces", "Integer arithmetic truncates; use floats.")
	unseen := said("one", review.P2, "bug", "Mean panics for a shop without any", "Division by zero kills the service.")
	if got := Judge(raised([]review.Finding{unseen}, showing(slow))).Result; got.Outcome != review.ChangesRequested || len(got.Dismissed) > 0 {
		t.Errorf("what nobody has seen is settled by another reviewer's: %s: %+v", got.Outcome, got.Dismissed)
	}
	if got := Judge(raised([]review.Finding{slow, unseen}, showing(slow))).Result; got.Outcome != review.ChangesRequested || len(got.Dismissed) > 0 {
		t.Errorf("what nobody has seen goes along with another reviewer's: %s: %+v", got.Outcome, got.Dismissed)
	}
	if got := Judge(raised([]review.Finding{name, slow}, showing(name), showing(slow))).Result; got.Outcome != review.Converged || len(got.Dismissed) != 2 {
		t.Errorf("what threads show is not settled: %s: %+v", got.Outcome, got.Dismissed)
	}
}

// A security finding of an earlier round is as grave as a P1: the silence of others does not settle it (threats.md T440).
func TestSecurityOfAnEarlierRoundIsHeard(t *testing.T) {
	leak := saidBy("one", foundAt(review.P2, 9, ""), "The token is written into the log")
	for category, want := range map[string]review.Outcome{"security": review.Partial, "logic": review.Converged} {
		leak.Category = category
		in := raised(nil).and(leak).and(saidBy("two", foundAt(review.P3, 30, ""), "Typo")).and(saidBy("three", foundAt(review.P3, 60, ""), "Another typo"))
		in.Reports[0].Answer.Receipt.State, in.Reports[0].Answer.Reviewer, in.Reports[0].Evidence = review.AgentFailed, nil, nil
		in.Round, in.Past = 2, []review.RoundResult{{Round: 1}}
		in.Earlier = []Tracked{{Findings: []review.Finding{leak}, No: 1, Round: 1, ID: "F-1", FixedIn: 1, Claim: &review.Claim{FindingID: "F-1", Kind: review.ClaimFixed, Text: "Fixed."}}}
		if got := Judge(in).Result; got.Outcome != want {
			t.Errorf("%s: %s: %s", category, got.Outcome, got.Reason)
		}
	}
}

// What people settled of a reviewer's silences nothing that it says of other lines (threats.md T440).
func TestADoubtIsOfItsOwnLines(t *testing.T) {
	mean := quoting(saidBy("one", foundAt(review.P1, 9, ""), "Mean of an empty list divides by zero"), 9, "return Count(shelves) / len(shelves)")
	share := quoting(saidBy("one", foundAt(review.P1, 18, ""), "Share of an empty list divides by zero"), 18, "return Of(shelves) / len(shelves)")
	for line, want := range map[int]review.Outcome{9: review.Partial, 18: review.Converged} {
		was := map[int]review.Finding{9: mean, 18: share}[line]
		in := raised([]review.Finding{share}, showing(share)).and(saidBy("two", foundAt(review.P3, 40, ""), "Typo"))
		in.Reports[0].Answer.Reviewer.Earlier = []review.EarlierVerdict{{FindingID: "F-1", Verdict: review.EarlierRemains, Why: "It still divides."}}
		in.Round, in.Past = 2, []review.RoundResult{{Round: 1}}
		in.Earlier = []Tracked{{Findings: []review.Finding{was}, No: 1, Round: 1, ID: "F-1"}}
		if got := Judge(in).Result; got.Outcome != want {
			t.Errorf("a doubt about line %d: %s: %s", line, got.Outcome, got.Reason)
		}
	}
}

// A grave finding falls silent with one of the same lines, or of the same file where neither says a line.
func TestWhatFallsSilentWithWhat(t *testing.T) {
	at := func(line int) review.Finding {
		f := saidBy("one", foundAt(review.P1, line, ""), "Mean of an empty list divides by zero")
		if line == 0 {
			f.Line = nil
		}
		return f
	}
	for _, c := range []struct {
		was, now review.Finding
		want     bool
	}{{at(9), at(11), true}, {at(9), at(18), false}, {at(0), at(0), true}, {at(0), at(9), false}, {at(9), at(0), false}} {
		if got := (Tracked{Findings: []review.Finding{c.was}}).quieted(c.now).silent(c.was.Source); got != c.want {
			t.Errorf("line %v with %v: %v", c.was.Line, c.now.Line, got)
		}
	}
}
