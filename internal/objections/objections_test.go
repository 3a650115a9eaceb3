package objections

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// What a marker keeps of an objection reads back as it was.
func TestObjectionsReadBack(t *testing.T) {
	said := Objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: time.Unix(1_800_000_000, 0).UTC(), counts: true, heavy: true, by: "the--maintainer_corp"}
	lost := said
	lost.lost, lost.severe, lost.counts = true, true, false
	got := Parse([]string{said.String(), sanitize.None, "no.objection", lost.String()})
	if !slices.Equal(got, []Objection{said, lost}) {
		t.Errorf("%+v", got)
	}
	m := sanitize.Marker{Run: "r", Nonce: "n", Key: []byte("key"), Objected: []string{said.String(), lost.String()}}
	texts, err := sanitize.Comment("Report.", m, sanitize.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if read, err := sanitize.Verify(texts[0].String(), m.Key, "", 0); err != nil || !slices.Equal(read.Objected, m.Objected) {
		t.Errorf("%q, %v", read.Objected, err)
	}
}

// A thread that is not there any more, with all that was said in it, counts until who objected, or somebody else whose word settles it, approves the pull request since it was
// seen that it is gone (threats.md T553).
func TestAThreadThatIsGone(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	said := Objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: at, counts: true, heavy: true, by: "maintainer"}
	people := conversation.People{Author: "author", Own: "prloop", Permissions: map[string]string{"author": "write", "maintainer": "write", "other": "write", "stranger": "read"}}
	judged := func(remembered []string, reviews ...review.Review) (lost []string, left review.Discussion) {
		d := PutBack(review.Discussion{Reviews: reviews}, Parse(remembered), people.ByApp)
		lost = Lost(people, remembered, d, nil, at.Add(time.Hour))
		return lost, WithoutOwn(d, conversation.State{}, people, lost)
	}
	approves := func(login string, at time.Time) review.Review {
		return review.Review{Author: review.Person{Login: login}, State: "APPROVED", SubmittedAt: at}
	}
	first, d := judged([]string{said.String()}, approves("other", at.Add(time.Minute)))
	if len(first) != 1 || len(d.Threads) != 1 || d.Threads[0].Resolved || !d.Threads[0].Lost || !Parse(Open(people, nil, nil, first))[0].lost {
		t.Fatalf("%v, %+v", first, d.Threads)
	}
	for who, settles := range map[string]bool{"author": false, "stranger": false, "prloop": false, "other": true, "maintainer": true} {
		lost, d := judged(first, approves(who, at.Add(2*time.Hour)))
		if settled := len(lost) == 0; settled != settles || settled != (len(d.Threads) == 0) || settled != (len(Open(people, nil, nil, lost)) == 0) {
			t.Errorf("%s: %v, %+v", who, lost, d.Threads)
		}
	}
	if lost, _ := judged(first, approves("other", at.Add(time.Minute))); len(lost) != 1 {
		t.Error("what was approved before the thread was gone settles it")
	}
	people.ByApp = true
	for who, settles := range map[string]bool{"other": false, "maintainer": true} {
		if lost, _ := judged(first, approves(who, at.Add(2*time.Hour))); len(lost) == 0 != settles {
			t.Errorf("in an app's pull request, %s: %v", who, lost)
		}
	}
}

// An approval that says more than thanks takes nothing back (threats.md T656).
func TestWhatAnApprovalSays(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	for body, takes := range map[string]bool{"": true, " \n": true, "LGTM, thanks!": true, "👍": true, "The mean is still wrong: please fix that before you merge.": false, "Is it fixed?": false, "Yes, it is. Thanks!": false} {
		d := review.Discussion{Reviews: []review.Review{{Author: review.Person{Login: "Maintainer"}, State: "APPROVED", Body: body, SubmittedAt: at}}}
		withdrawn := Objection{thread: "t", comment: 1, by: "maintainer", at: at.Add(-time.Hour)}.Withdrawn(d)
		if _, ok := Approved(d)["maintainer"]; ok != takes || withdrawn != takes {
			t.Errorf("%q: takes back %v, of what was deleted %v", body, ok, withdrawn)
		}
		d.Reviews[0].EditedBy = "author"
		if len(Approved(d)) > 0 {
			t.Errorf("%q: takes back what somebody else wrote", body)
		}
	}
}

// A finding that we maintain counts until somebody who may write and did not open the pull request resolves the thread or approves, also where its comment is edited or deleted,
// and where nothing of the thread is left. No login stands for us (threats.md T609).
func TestWhatWeMaintainIsLost(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	people := conversation.People{Author: "author", Own: "prloop", Permissions: map[string]string{"author": "write", "maintainer": "write", "prloop": "read"}}
	open := Standing(people, []conversation.Thread{{ID: "12", Node: "PRRT_1", Priority: review.P1, Maintained: "c", Status: conversation.Disputed}, {ID: "13", Node: "PRRT_2", Priority: review.P1, Maintained: "c"}}, []string{"12"})
	if len(open) != 1 || !open[0].grave() {
		t.Fatalf("%+v", open)
	}
	kept := []string{open[0].String()}
	root := review.Comment{DatabaseID: 12, Author: review.Person{Login: "app[bot]", Bot: true}, Body: "Divides by zero.", EditedBy: "author"}
	for name, there := range map[string][]review.Thread{"edited": {{ID: "PRRT_1", Comments: []review.Comment{root}}}, "deleted": {{ID: "PRRT_1"}}, "gone": nil} {
		for who, settles := range map[string]bool{"": false, "author": false, "prloop": false, "-": false, "maintainer": true} {
			for _, byApp := range []bool{false, true} {
				people.ByApp = byApp
				d := PutBack(review.Discussion{Threads: there}, Parse(kept), byApp)
				lost := Lost(people, kept, d, nil, at)
				if shown := WithoutOwn(d, conversation.State{}, people, lost); len(lost) != 1 || len(shown.Threads) != 1 || !strings.HasPrefix(shown.Threads[0].Comments[0].Body, "P1: ") {
					t.Fatalf("%s: %v, %+v", name, lost, shown.Threads)
				}
				d.Reviews = []review.Review{{Author: review.Person{Login: who}, State: "APPROVED", SubmittedAt: at.Add(time.Hour)}}
				if left := Lost(people, lost, d, nil, at); (len(left) == 0) != settles || Parse(lost)[0].Withdrawn(d) {
					t.Errorf("%s, %q approves: %v", name, who, left)
				}
			}
		}
	}
	unedited := root
	unedited.EditedBy = ""
	if d := PutBack(review.Discussion{Threads: []review.Thread{{ID: "PRRT_1", Comments: []review.Comment{unedited}}}}, Parse(kept), false); d.Threads[0].Comments[0].Body != root.Body {
		t.Errorf("%+v", d.Threads[0])
	}
	s := conversation.State{Threads: []conversation.Thread{{ID: "12", Node: "PRRT_1", Head: "a", Status: conversation.Pending}, {ID: "13", Node: "PRRT_2", Head: "a", Status: conversation.Pending},
		{ID: "14", Node: "PRRT_1", Head: "a", Status: conversation.Resolved}}}
	if Maintain(&s, Parse(kept)); s.Threads[0].Maintained != "a" || s.Threads[1].Maintained != "" || s.Threads[2].Maintained != "" {
		t.Errorf("%+v", s.Threads)
	}
}

// Of the same objection in two reports, whichever is older, what is grave, and that it is lost, is kept (threats.md T572).
func TestMerge(t *testing.T) {
	soft := Objection{thread: "0123abcd", comment: 1, at: time.Unix(1, 0).UTC(), counts: true, by: "maintainer"}
	grave, gone := soft, soft
	grave.counts, grave.severe = false, true
	gone.lost, gone.at = true, time.Unix(9, 0).UTC()
	for _, known := range [][]Objection{{soft, grave, gone}, {gone, grave, soft}, {grave, gone, soft}} {
		var got []string
		for _, o := range known {
			got = Merge(got, []string{o.String()})
		}
		all := gone
		all.severe = true
		if !slices.Equal(Parse(got), []Objection{all}) {
			t.Errorf("%v are remembered as %v", known, got)
		}
	}
}

// Objections that stand are kept, those of each person in a thread once, what is a P1 apart, and of more than a marker keeps those that are grave, and the newest.
func TestWhatIsKeptOfObjections(t *testing.T) {
	state := conversation.State{}
	for n := range int64(30) {
		state.Threads = append(state.Threads, conversation.Thread{
			ID: fmt.Sprint(n), Node: fmt.Sprint("PRRT_", n), Status: conversation.Resolved, Priority: review.P1, DeveloperReplies: []conversation.Reply{
				{ID: 100 + 3*n, Author: "maintainer", Body: "This is not fixed.", Association: "MEMBER"}, {ID: 101 + 3*n, Author: "maintainer", Body: "Still not.", Association: "MEMBER"},
				{ID: 102 + 3*n, Author: "author", Body: "It is.", Association: "MEMBER"},
			}})
	}
	kept := Parse(Open(conversation.People{Author: "author"}, state.Threads, nil, nil))
	if len(kept) != sanitize.MostObjected || kept[len(kept)-1].comment != 101+3*29 || kept[0].comment != 101+3*10 || !kept[0].heavy || !kept[0].counts {
		t.Errorf("%+v", kept)
	}
	for i := range state.Threads[5:] {
		state.Threads[5+i].Priority = review.P2
	}
	state.Threads[0].DeveloperReplies[0].Body = "P1: This is not fixed."
	kept = Parse(Open(conversation.People{Author: "author"}, state.Threads, nil, nil))
	heavy := slices.DeleteFunc(slices.Clone(kept), func(o Objection) bool { return !o.heavy })
	if len(kept) != sanitize.MostObjected || len(heavy) != 6 || heavy[0].comment != 100 || !heavy[0].severe || heavy[1].comment != 101 || heavy[1].severe || kept[0].comment != 101+3*16 {
		t.Errorf("%+v", kept)
	}
}

// What people said is kept before what prloop maintains, however many such findings there are: these stand in threads that prloop began (threats.md T609).
func TestWhatPeopleSaidIsKeptFirst(t *testing.T) {
	said := conversation.Thread{ID: "1", Node: "PRRT_1", Status: conversation.Pending, Priority: review.P1, DeveloperReplies: []conversation.Reply{
		{ID: 2, Author: "maintainer", Body: "P1: This leaks.", Association: "MEMBER"}}}
	threads, unchanged := []conversation.Thread{said}, []string(nil)
	for n := range 30 {
		id := fmt.Sprint(100 + n)
		threads = append(threads, conversation.Thread{ID: id, Node: "PRRT_" + id, Status: conversation.Disputed, Priority: review.P1, Maintained: "c1", Head: "c1"})
		unchanged = append(unchanged, id)
	}
	kept := Parse(Open(conversation.People{Author: "author"}, threads, unchanged, nil))
	if last := kept[len(kept)-1]; len(kept) != sanitize.MostObjected || last.comment != 2 || !last.severe || !kept[0].maintained() {
		t.Errorf("%+v", kept)
	}
}

// What counted until its code changed, or until prloop said that its problem is gone, is kept, and counts where its thread is lost. What reviewers alone had raised is not kept, nor what
// somebody settled. It takes nobody's place (threats.md T654).
func TestWhatIsCuredIsLost(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	people := conversation.People{Author: "author", Own: "prloop", Permissions: map[string]string{"author": "write", "maintainer": "write"}}
	thread := func(change func(t *conversation.Thread)) conversation.Thread {
		out := conversation.Thread{ID: "12", Node: "PRRT_1", Priority: review.P1, Head: "raised", Status: conversation.Resolved, RuledAt: "cured", Closed: true, ClosedBy: "prloop"}
		change(&out)
		return out
	}
	open := func(t *conversation.Thread) {
		t.Status, t.RuledAt, t.Closed, t.ClosedBy = conversation.Pending, "", false, ""
	}
	upheld := func(t *conversation.Thread) { t.Upheld = []string{"raised"} }
	for _, c := range []struct {
		name      string
		change    func(t *conversation.Thread)
		unchanged bool
		proven    bool
		kept      bool
	}{
		{"one that prloop maintained", upheld, false, false, true},
		{"one that counted", func(t *conversation.Thread) { t.Counted = true }, false, false, true},
		{"one of which a judge showed the cure", func(t *conversation.Thread) { t.Fact = &conversation.Place{File: "a.go"} }, true, false, true},
		{"one of which a judge shows it in this run", open, true, true, true},
		{"one that is maintained, and whose code has changed", func(t *conversation.Thread) { open(t); t.Status, t.Maintained = conversation.Disputed, "raised" }, false, false, true},
		{"one that reviewers alone raised", func(*conversation.Thread) {}, false, false, false},
		{"one that reviewers alone raised, and whose code has changed", open, false, false, false},
		{"one that a maintainer resolved", func(t *conversation.Thread) { upheld(t); t.ClosedBy = "maintainer" }, false, false, false},
		{"a P2", func(t *conversation.Thread) { upheld(t); t.Priority = review.P2 }, false, false, false},
	} {
		var unchanged, proven []string
		if c.unchanged {
			unchanged = []string{"12"}
		}
		if c.proven {
			proven = []string{"12"}
		}
		names := Open(people, []conversation.Thread{thread(c.change)}, unchanged, nil, proven...)
		if kept := Parse(names); (len(kept) == 1) != c.kept || c.kept && (!kept[0].cured || len(OpenThreads(names)) > 0) {
			t.Errorf("%s: %+v", c.name, kept)
		}
	}
	against := thread(func(t *conversation.Thread) {
		upheld(t)
		t.Closed, t.ClosedBy = false, ""
		t.DeveloperReplies = []conversation.Reply{{ID: 13, Author: "maintainer", Body: "This is not fixed.", Association: "MEMBER", Commit: "cured"}}
	})
	if kept := Parse(Open(people, []conversation.Thread{against}, nil, nil)); len(kept) != 1 || kept[0].comment != 13 { // what they object is what has to be settled
		t.Errorf("%+v", kept)
	}
	ours := []conversation.Thread{thread(upheld)}
	kept := Open(people, ours, nil, nil)
	root := review.Comment{DatabaseID: 12, Body: "Divides by zero."}
	edited, self := root, root
	edited.EditedBy, self.EditedAt = "author", at
	for name, c := range map[string]struct {
		comments []review.Comment
		lost     bool
	}{"untouched": {[]review.Comment{root}, false}, "edited": {[]review.Comment{edited}, true}, "edited by its own account": {[]review.Comment{self}, true}, "deleted": {nil, true}} {
		d := PutBack(review.Discussion{Threads: []review.Thread{{ID: "PRRT_1", Resolved: true, ResolvedBy: &review.Person{Login: "prloop"}, Comments: c.comments}}}, Parse(kept), false)
		if lost := Lost(people, kept, d, ours, at); len(lost) > 0 {
			t.Errorf("%s, in a thread of ours: %v", name, lost)
		}
		lost := Lost(people, kept, d, nil, at)
		if (len(lost) == 1) != c.lost {
			t.Errorf("%s: %v", name, lost)
		}
		if body := d.Threads[0].Comments[0].Body; name != "untouched" && name != "edited by its own account" && !strings.Contains(body, "Its finding counted until the code was changed") {
			t.Errorf("%s: %q", name, body)
		}
		d.Reviews = []review.Review{{Author: review.Person{Login: "maintainer"}, State: "APPROVED", SubmittedAt: at.Add(time.Hour)}}
		if left := Lost(people, lost, d, nil, at); len(left) > 0 {
			t.Errorf("%s, approved: %v", name, left)
		}
	}
	threads := []conversation.Thread{{ID: "1", Node: "PRRT_said", Status: conversation.Resolved, Priority: review.P2, DeveloperReplies: []conversation.Reply{{ID: 2, Author: "maintainer", Body: "This is not fixed.", Association: "MEMBER"}}}}
	for n := range 30 {
		threads = append(threads, thread(func(t *conversation.Thread) { upheld(t); t.ID, t.Node = fmt.Sprint(100+n), fmt.Sprint("PRRT_", n) }))
	}
	all := Parse(Open(people, threads, nil, nil))
	if last := all[len(all)-1]; len(all) != sanitize.MostObjected || last.comment != 2 || !all[0].cured {
		t.Errorf("%+v", all)
	}
}

// What somebody else has edited weighs what it did when a run read it, and says so; what its author has made of it is theirs (threats.md T572).
func TestWhatOthersEditedWeighsWhatItDid(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	said := Objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: at, by: "maintainer"}
	for _, c := range []struct {
		severe         bool
		editedBy, body string
		want           string
	}{
		{true, "author", "Good point.", "P1: The objection of maintainer here was changed by author."},
		{true, "author", "> P1: prices", "P1: The objection of maintainer here was changed by author."},
		{false, "author", "nit: fine", "The objection of maintainer here was changed by author."},
		{true, "author", "P1: The prices are wrong.", "P1: The prices are wrong."},
		{true, "", "Good point.", "Good point."},
	} {
		o := said
		o.severe, o.counts = c.severe, !c.severe
		d := PutBack(review.Discussion{Threads: []review.Thread{{ID: "PRRT_1", Comments: []review.Comment{
			{DatabaseID: 12, Author: review.Person{Login: "maintainer"}, Body: c.body, CreatedAt: at, EditedBy: c.editedBy},
		}}}}, []Objection{o}, false)
		got := d.Threads[0].Comments
		if first, _, _ := strings.Cut(got[0].Body, "\n"); len(got) != 1 || first != c.want || got[0].Author.Association != review.Collaborator {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// What counts although somebody had resolved its thread whose word settles it does not say that nobody had (threats.md T606).
func TestOpenThreads(t *testing.T) {
	people := conversation.People{Author: "author", Own: "prloop", Permissions: map[string]string{"maintainer": "write"}}
	thread := conversation.Thread{ID: "12", Node: "PRRT_1", Priority: review.P1, Head: "raised", Status: conversation.HandedOver, Maintained: "raised"}
	names := Open(people, []conversation.Thread{thread}, []string{"12"}, nil)
	if got := OpenThreads(names); len(names) != 1 || !slices.Equal(got, []string{sanitize.ThreadNamed("PRRT_1")}) {
		t.Errorf("open: %v in %v", names, got)
	}
	thread.Closed, thread.ClosedBy, people.Voided, people.Returned = true, "maintainer", []string{"12"}, []string{"12"}
	names = Open(people, []conversation.Thread{thread}, []string{"12"}, nil)
	if got := OpenThreads(names); len(names) != 1 || len(got) > 0 {
		t.Errorf("void: %v in %v", names, got)
	}
}
