package orchestrator

import (
	"errors"
	"fmt"
	"slices"

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
			o.Nonce, o.Part, o.Base, o.Own = m.Nonce, m.Part, m.Base, true
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
