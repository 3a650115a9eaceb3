package orchestrator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// opener reads comments of a pull request for the conversation: ours are those that ours names, and that nobody has edited. prloop edits none of what it says in threads,
// so a text of ours in a comment that was edited is a copy, which who may write puts in the place of another (threats.md T571).
func (l *Loop) opener(pr review.PullRequest, ours func(review.Comment) bool, account review.Person) func(review.Comment) conversation.Opened {
	return func(c review.Comment) conversation.Opened {
		o := conversation.Opened{Marked: sanitize.HasMarker(c.Body), Own: effects.Same(c.Author, account)}
		m, err := sanitize.Verify(c.Body, l.MarkerKey, pr.Repo.String(), pr.Number)
		switch {
		case err != nil:
			o.Err, o.OtherKey = err, errors.Is(err, sanitize.ErrOtherKey)
		case !c.EditedAt.IsZero():
			o.Err = errEdited
		case !ours(c):
			o.Err = errOther
		default:
			o.Nonce, o.Part, o.Own = m.Nonce, m.Part, true
			o.Block, _ = sanitize.NoteBlock(c.Body)
		}
		return o
	}
}

const (
	errOther  = constError("another account posted a copy of it")
	errEdited = constError("the comment was edited")
)

type constError string

func (e constError) Error() string { return string(e) }

// withoutOwn leaves of our threads what people said in them, and marks them as ours: they are our findings, which are counted once,
// and nothing that somebody else has to settle (decision 51). One in which nobody answered is left out, and one that we called cured and somebody
// opened again, saying something, is theirs (threats.md T441). One that nobody who may closed over what one says there is open. What the author answers
// there is about our finding ("P1 is fixed") and blocks nothing. Reviews of ours say nothing either. What is lost counts in the thread in which it stands, which is
// ours no more; where that is settled, nothing is left of what stands for deleted comments.
func withoutOwn(d review.Discussion, s conversation.State, people conversation.People, lost []objection) review.Discussion {
	ours, over, objected := map[string]bool{}, map[string]bool{}, map[string]conversation.Reply{}
	for _, t := range s.Threads {
		first, cured := firstOpen(people, t)
		ours[t.Node], over[t.Node], objected[t.Node] = !cured, cured || closedOver(people, t), first
	}
	var list []review.Thread
	for _, t := range d.Threads {
		t.Own, t.Resolved = ours[t.ID], t.Resolved && !over[t.ID]
		first, left := objected[t.ID], slices.IndexFunc(t.Comments, func(c review.Comment) bool {
			return slices.ContainsFunc(lost, func(o objection) bool { return o.is(c) })
		})
		switch {
		case left >= 0:
			t.Resolved, t.Lost, t.Cured, t.Comments = false, true, true, t.Comments[left:]
		case first.Body != "":
			t.Cured = true
			t.Comments = slices.DeleteFunc(slices.Clone(t.Comments), func(c review.Comment) bool {
				return c.CreatedAt.Before(first.Timestamp) || c.CreatedAt.Equal(first.Timestamp) && c.DatabaseID < first.ID // GitHub tells seconds
			})
		case !t.Own:
			t.Comments = slices.DeleteFunc(slices.Clone(t.Comments), func(c review.Comment) bool { return c.Deleted })
		}
		if strings.HasPrefix(t.ID, lostThread) && !t.Lost {
			continue
		}
		if t.Own || t.Cured {
			t.Comments = slices.Clone(t.Comments)
			for i, c := range t.Comments {
				if people.Voice(c.Author.Login, c.Author.Bot).Author {
					t.Comments[i].Author.Association = ""
				}
			}
		}
		if !t.Own || len(t.Comments) > 0 {
			list = append(list, t)
		}
	}
	d.Threads = list
	d.Reviews = slices.DeleteFunc(slices.Clone(d.Reviews), func(r review.Review) bool {
		return r.State == "COMMENTED" && sanitize.HasMarker(r.Body)
	})
	return d
}

// firstOpen is the first of what people say in a thread of ours that counts, where somebody objects to its cure: an objection, or what is grave, which stands whatever they
// object later.
func firstOpen(people conversation.People, t conversation.Thread) (first conversation.Reply, cured bool) {
	against := people.Objections(t, graveThread(t))
	if len(against) == 0 {
		return first, false
	}
	return slices.MinFunc(append(against, openGrave(people, t)...), func(a, b conversation.Reply) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.ID, b.ID)) // GitHub tells seconds
	}), true
}

// told are our threads as reviewers are told of them: what we said and where it stands, and what people answered. It is data, as all
// of a discussion is.
func told(s *conversation.State) (out []review.Thread) {
	if s == nil {
		return nil
	}
	for _, t := range s.Threads {
		thread := review.Thread{ID: t.Node, File: t.File, Own: true, Resolved: t.Status == conversation.Resolved, Outdated: t.Line == 0}
		if line := t.Line; line > 0 {
			thread.Line = &line
		}
		thread.Comments = append(thread.Comments, review.Comment{URL: t.URL, Author: review.Person{Login: "prloop"},
			Body: fmt.Sprintf("%s, score %d: %s\n\n%s", t.Status, t.Score, t.Assessment.Finding, t.Assessment.Assessment)})
		for _, r := range t.DeveloperReplies {
			thread.Comments = append(thread.Comments, review.Comment{Author: review.Person{Login: r.Author, Association: r.Association, Bot: r.Bot}, Body: r.Body, CreatedAt: r.Timestamp})
		}
		out = append(out, thread)
	}
	return out
}

// runState is the state as github_get_run_state gives it; nil where there are no threads. Of what people said the newest is told that talkBytes holds.
func runState(s *conversation.State) *review.RunState {
	if s == nil || len(s.Threads) == 0 {
		return nil
	}
	out, left := review.RunState{Threads: []review.ThreadState{}}, talkBytes
	for _, t := range s.Threads {
		one := review.ThreadState{ID: t.ID, File: t.File, Line: t.Line, Status: string(t.Status), Score: t.Score, Assessment: review.ThreadAssessment(t.Assessment)}
		for _, r := range slices.Backward(t.DeveloperReplies) {
			told := review.ThreadReply{Author: r.Author, Body: shortened(r.Body), Timestamp: r.Timestamp}
			if left -= len(told.Body); left < 0 {
				one.DeveloperReplies = append(one.DeveloperReplies, review.ThreadReply{Author: "prloop", Body: "Earlier replies are left out: there are too many to be read.", Timestamp: r.Timestamp})
				break
			}
			one.DeveloperReplies = append(one.DeveloperReplies, told)
		}
		slices.Reverse(one.DeveloperReplies)
		out.Threads = append(out.Threads, one)
	}
	return &out
}

// conversationTexts is a copy of a state, and all free text in it.
func conversationTexts(s *conversation.State, texts []*string) (*conversation.State, []*string) {
	if s == nil {
		return nil, texts
	}
	c := *s
	c.Threads = slices.Clone(c.Threads)
	for i := range c.Threads {
		t := &c.Threads[i]
		t.DeveloperReplies, t.Also = slices.Clone(t.DeveloperReplies), slices.Clone(t.Also)
		texts = append(texts, &t.Assessment.Finding, &t.Assessment.Assessment, &t.Evidence, &t.Reason)
		for j := range t.Also {
			texts = append(texts, &t.Also[j].Finding, &t.Also[j].Assessment, &t.Also[j].Evidence)
		}
		for j := range t.DeveloperReplies {
			texts = append(texts, &t.DeveloperReplies[j].Body)
		}
	}
	return &c, texts
}
