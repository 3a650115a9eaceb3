package orchestrator

import (
	"context"
	"fmt"
	"iter"
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
	said := objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: time.Unix(1_800_000_000, 0).UTC(), counts: true, heavy: true, by: "the--maintainer_corp"}
	lost := said
	lost.lost, lost.severe, lost.counts = true, true, false
	got := objectionsOf([]string{said.String(), sanitize.None, "no.objection", lost.String()})
	if !slices.Equal(got, []objection{said, lost}) {
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
	said := objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: at, counts: true, heavy: true, by: "maintainer"}
	snap := Snapshot{
		PR: review.PullRequest{UpdatedAt: at.Add(time.Hour)}, Remembered: []string{said.String()}, Conversation: &conversation.State{},
		People: &conversation.People{Author: "author", Own: "prloop", Permissions: map[string]string{"author": "write", "maintainer": "write", "other": "write", "stranger": "read"}},
	}
	judged := func(remembered []string, reviews ...review.Review) (Snapshot, review.Discussion) {
		s := snap
		s.Remembered = remembered
		s.Discussion = putBack(review.Discussion{Reviews: reviews}, objectionsOf(remembered), snap.People.ByApp)
		s.Lost = s.lost()
		return s, withoutOwn(s.Discussion, *s.Conversation, s.persons(), objectionsOf(s.Lost))
	}
	approves := func(login string, at time.Time) review.Review {
		return review.Review{Author: review.Person{Login: login}, State: "APPROVED", SubmittedAt: at}
	}
	first, d := judged(snap.Remembered, approves("other", at.Add(time.Minute)))
	if len(first.Lost) != 1 || len(d.Threads) != 1 || d.Threads[0].Resolved || !d.Threads[0].Lost || !objectionsOf(first.objected())[0].lost {
		t.Fatalf("%v, %+v", first.Lost, d.Threads)
	}
	for who, settles := range map[string]bool{"author": false, "stranger": false, "prloop": false, "other": true, "maintainer": true} {
		s, d := judged(first.objected(), approves(who, at.Add(2*time.Hour)))
		if settled := len(s.Lost) == 0; settled != settles || settled != (len(d.Threads) == 0) || settled != slices.Equal(s.objected(), []string{sanitize.None}) {
			t.Errorf("%s: %v, %+v", who, s.Lost, d.Threads)
		}
	}
	if s, _ := judged(first.objected(), approves("other", at.Add(time.Minute))); len(s.Lost) != 1 {
		t.Error("what was approved before the thread was gone settles it")
	}
	snap.People.ByApp = true
	for who, settles := range map[string]bool{"other": false, "maintainer": true} {
		if s, _ := judged(first.objected(), approves(who, at.Add(2*time.Hour))); len(s.Lost) == 0 != settles {
			t.Errorf("in an app's pull request, %s: %v", who, s.Lost)
		}
	}
}

// The newest report that keeps any tells, and the newest run on record that read threads (threats.md T554).
func TestWhatIsRemembered(t *testing.T) {
	name := func(n int64) string {
		return objection{thread: "0123abcd", comment: n, at: time.Unix(1, 0), counts: true, by: "maintainer"}.String()
	}
	comment := func(minute int, objected ...string) review.Comment {
		texts, err := sanitize.Comment("Report.", sanitize.Marker{Run: "r", Nonce: "n", Key: []byte("key"), Objected: objected}, sanitize.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Comment{Body: texts[0].String(), CreatedAt: time.Unix(int64(60*minute), 0)}
	}
	ours := func(review.Comment) bool { return true }
	for want, comments := range map[string][]review.Comment{
		fmt.Sprint([]string{name(1), name(2)}): {comment(2, name(2)), comment(1, name(1), name(3)), comment(3)},
		fmt.Sprint([]string{name(1)}):          {comment(1, name(2)), comment(2, sanitize.None), comment(3)},
	} {
		if got := remember([]string{name(1)}, comments, ours); fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	soft := objection{thread: "0123abcd", comment: 1, at: time.Unix(1, 0).UTC(), counts: true, by: "maintainer"}
	grave, gone := soft, soft
	grave.counts, grave.severe = false, true
	gone.lost, gone.at = true, time.Unix(9, 0).UTC()
	for _, known := range [][]objection{{soft, grave, gone}, {gone, grave, soft}, {grave, gone, soft}} {
		var got []string
		for i, o := range known {
			got = remember(got, []review.Comment{comment(i, o.String())}, ours)
		}
		all := gone
		all.severe = true
		if !slices.Equal(objectionsOf(got), []objection{all}) {
			t.Errorf("%v are remembered as %v", known, got)
		}
	}
	ended := func(read string, objected ...string) Stored {
		return Stored{Result: review.RunResult{Receipt: review.Receipt{ThreadsRead: read, Objected: objected}}}
	}
	for want, runs := range map[string][]Stored{
		fmt.Sprint([]string{name(1)}): {ended(""), ended("0a", name(1)), ended("0b", name(2))},
		fmt.Sprint([]string{name(3)}): {ended("", name(3)), ended("0a", name(1))}, // it was overtaken
		"[]":                          {ended("0c", sanitize.None), ended("0a", name(1))},
	} {
		l := &Loop{Stored: func(context.Context, Request) iter.Seq2[Stored, error] {
			return func(yield func(Stored, error) bool) {
				for _, s := range runs {
					if !yield(s, nil) {
						return
					}
				}
			}
		}}
		if got, err := l.recordedObjections(t.Context(), Request{}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v, want %s", got, err, want)
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
	kept := objectionsOf(Snapshot{Conversation: &state, People: &conversation.People{Author: "author"}}.objected())
	if len(kept) != sanitize.MostObjected || kept[len(kept)-1].comment != 101+3*29 || kept[0].comment != 101+3*10 || !kept[0].heavy || !kept[0].counts {
		t.Errorf("%+v", kept)
	}
	for i := range state.Threads[5:] {
		state.Threads[5+i].Priority = review.P2
	}
	state.Threads[0].DeveloperReplies[0].Body = "P1: This is not fixed."
	kept = objectionsOf(Snapshot{Conversation: &state, People: &conversation.People{Author: "author"}}.objected())
	heavy := slices.DeleteFunc(slices.Clone(kept), func(o objection) bool { return !o.heavy })
	if len(kept) != sanitize.MostObjected || len(heavy) != 6 || heavy[0].comment != 100 || !heavy[0].severe || heavy[1].comment != 101 || heavy[1].severe || kept[0].comment != 101+3*16 {
		t.Errorf("%+v", kept)
	}
}

// What somebody else has edited weighs what it did when a run read it, and says so; what its author has made of it is theirs (threats.md T572).
func TestWhatOthersEditedWeighsWhatItDid(t *testing.T) {
	at := time.Unix(1_800_000_000, 0).UTC()
	said := objection{thread: sanitize.ThreadNamed("PRRT_1"), comment: 12, at: at, by: "maintainer"}
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
		d := putBack(review.Discussion{Threads: []review.Thread{{ID: "PRRT_1", Comments: []review.Comment{
			{DatabaseID: 12, Author: review.Person{Login: "maintainer"}, Body: c.body, CreatedAt: at, EditedBy: c.editedBy},
		}}}}, []objection{o}, false)
		got := d.Threads[0].Comments
		if first, _, _ := strings.Cut(got[0].Body, "\n"); len(got) != 1 || first != c.want || got[0].Author.Association != collaborator {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
