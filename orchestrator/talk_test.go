package orchestrator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// However much strangers write in threads, reviewers are told all that prloop said, and so much of the rest as fits (threats.md T379).
func TestReviewersAreToldAPartOfLongTalk(t *testing.T) {
	long := strings.Repeat("€", 20_000)
	s := &conversation.State{}
	for i := range 30 {
		s.Threads = append(s.Threads, conversation.Thread{Node: fmt.Sprint("own ", i), Status: conversation.Pending, Assessment: conversation.Assessment{Finding: "crash"}})
	}
	s.Threads[0].DeveloperReplies = []conversation.Reply{{Author: "mona", Body: "It is handled in Add."}, {Author: "stranger", Body: long}}
	var d review.Discussion
	for i := range 100 {
		d.Threads = append(d.Threads, review.Thread{ID: fmt.Sprint(i), Comments: []review.Comment{{Author: review.Person{Login: "stranger"}, Body: long}}})
	}
	open := openThreads(d, s)
	size := 0
	for i, th := range open.Threads {
		if own := i < 30; own != th.Own {
			t.Errorf("thread %d: own %v", i, th.Own)
		}
		for _, c := range th.Comments {
			size += len(c.Body)
			if strings.Contains(c.Body, "€") && (!strings.HasSuffix(c.Body, "€…") || len(c.Body) > remarkBytes+len("…")) {
				t.Errorf("a remark of %d bytes ends in %q", len(c.Body), c.Body[len(c.Body)-6:])
			}
		}
	}
	if own := open.Threads[0]; !open.Truncated || len(own.Comments) != 3 || own.Comments[1].Body != "It is handled in Add." {
		t.Errorf("truncated %v, and our thread is %+v", open.Truncated, own)
	}
	if n := len(open.Threads); n < 40 || n > 50 || size > talkBytes+4096 {
		t.Errorf("%d threads of %d bytes", n, size)
	}
	short := openThreads(review.Discussion{Threads: d.Threads[:1]}, nil)
	if short.Truncated || len(short.Threads) != 1 || openThreads(review.Discussion{}, nil) != nil {
		t.Errorf("%+v", short)
	}
}

// The tool that gives what prloop remembers of its threads is bounded the same, the newest first.
func TestTheStateTellsAPartOfLongTalk(t *testing.T) {
	s := &conversation.State{Threads: []conversation.Thread{{Node: "own"}}}
	for i := range 60 {
		s.Threads[0].DeveloperReplies = append(s.Threads[0].DeveloperReplies, conversation.Reply{Author: "stranger", Body: fmt.Sprint(i, strings.Repeat(" x", 30_000))})
	}
	told, size := runState(s).Threads[0].DeveloperReplies, 0
	for _, r := range told {
		size += len(r.Body)
	}
	if size > talkBytes+200 || len(told) < 10 || told[0].Author != "prloop" || !strings.HasPrefix(told[len(told)-1].Body, "59 x") {
		t.Errorf("%d replies of %d bytes, the first of %s", len(told), size, told[0].Author)
	}
}

// What was left out of long comments is said, and holds nothing back (threats.md T378).
func TestCutCommentsAreNamed(t *testing.T) {
	in := round()
	in.Snapshot.Discussion.Cut = 84
	j := Judge(in)
	if said := "Of 84 long comments by people who may not block only the beginning was read."; j.Result.Outcome != review.Converged || !strings.Contains(j.Report, said) {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
	in.Snapshot.Discussion, in.Request.Inline = review.Discussion{Truncated: true}, InlineProminent
	if j = Judge(in); !strings.Contains(j.Report, "No comments on lines are made: the discussion was not read whole, and prloop may have made them before.") {
		t.Errorf("the report does not say why there are no comments on lines:\n%s", j.Report)
	}
	if j.Result.Outcome != review.Partial || !strings.Contains(j.Report, "**Next:** Look at the discussion, and decide by hand: it is longer than what prloop reads.") {
		t.Errorf("%s:\n%s", j.Result.Outcome, j.Report)
	}
}

// A judge is told the newest of what was said in a thread, of the author and of developers each.
func TestJudgesAreToldTheLatestOfLongTalk(t *testing.T) {
	remark := func(by string, n int, size int) review.Remark {
		return review.Remark{By: by, Body: fmt.Sprintf("%s %d %s", by, n, strings.Repeat("€", size/3))}
	}
	var said []review.Remark
	said = append(said, remark("author", 0, 30), remark("developer", 0, 30), remark("prloop", 0, 30))
	for n := range 40 {
		said = append(said, remark("author", n+1, 60_000))
	}
	got, size := latest(said, talkBytes), 0
	for _, r := range got {
		size += len(r.Body)
	}
	if size > talkBytes+1024 || len(got) < 15 || got[len(got)-1].Body != shortened(said[len(said)-1].Body) {
		t.Errorf("%d remarks of %d bytes, the last %.40q", len(got), size, got[len(got)-1].Body)
	}
	if !strings.Contains(got[0].Body, "left out") || got[1] != said[1] || got[2] != said[2] || strings.HasPrefix(got[3].Body, "author 1 ") {
		t.Errorf("it begins with %.80q", got[:4])
	}
	if d := cmp.Diff(said[:3], latest(said[:3], talkBytes)); d != "" {
		t.Error("a short talk is told whole:", d)
	}
	if got := latest(said[:4], 0); len(got) != 4 || got[3].By != "author" || got[1].By != "developer" {
		t.Errorf("without room %.80q", got)
	}
}

// However much a fixer claims and notices, reviewers are told no more of it than of what people say (threats.md T427).
func TestAFixersWordsAreToldInBounds(t *testing.T) {
	long := strings.Repeat("word ", 8000)
	var tracked []Tracked
	var past []review.RoundResult
	for n := range 30 {
		tracked = append(tracked, Tracked{Claim: &review.Claim{FindingID: fmt.Sprint(n), Kind: review.ClaimFixed, Text: long}})
	}
	fix := review.FixOutcome{Result: &review.FixResult{}}
	for range 30 {
		fix.Result.Noticed = append(fix.Result.Noticed, review.Notice{Text: long})
	}
	past = append(past, review.RoundResult{Fix: &fix})
	told, saw := 0, 0
	for _, c := range claims(tracked) {
		told += len(c.Text)
	}
	for _, n := range noticed(past) {
		saw += len(n.Text)
	}
	if most := talkBytes + 30*len("…"); told > most || saw > most || told < talkBytes/2 {
		t.Errorf("claims have %d bytes, notices %d, want %d at most", told, saw, most)
	}
	if tracked[0].Claim.Text != long || fix.Result.Noticed[0].Text != long {
		t.Error("what is kept of them is cut too")
	}
	if one := claims([]Tracked{{Claim: &review.Claim{Text: "Mean answers 0."}}}); one[0].Text != "Mean answers 0." {
		t.Errorf("%q", one[0].Text)
	}
}
