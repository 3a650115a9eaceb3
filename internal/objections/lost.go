package objections

import (
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// Lost are the objections that are remembered and open, and whose thread we know no more as ours: somebody changed or deleted the comment with which it begins. They are
// settled as those in our threads, and by an approval since one of our reports said so, as there may be no thread to resolve. A cured one is not lost where nobody has touched
// that comment: prloop may have another account or key by now. seen is when the pull request was
// read; d is what PutBack gave.
func Lost(people conversation.People, remembered []string, d review.Discussion, ours []conversation.Thread, seen time.Time) (names []string) {
	for _, o := range Parse(remembered) {
		known := func(t conversation.Thread) bool { return o.in(t.Node) }
		at := slices.IndexFunc(d.Threads, func(t review.Thread) bool { return o.in(t.ID) })
		if at < 0 || slices.ContainsFunc(ours, known) || o.approved(d, people) || !o.stands(d.Threads[at], people) {
			continue
		}
		if o.cured && slices.ContainsFunc(d.Threads[at].Comments, func(c review.Comment) bool { return o.is(c) && !c.Deleted && c.EditedBy == "" && c.EditedAt.IsZero() }) {
			continue
		}
		if !o.lost {
			o.lost, o.at = true, seen
		}
		names = append(names, o.String())
	}
	return names
}

// approved reports whether somebody whose word settles a lost objection has approved the pull request since it was seen to be lost.
func (o Objection) approved(d review.Discussion, people conversation.People) bool {
	return o.lost && slices.ContainsFunc(approvals(d), func(r review.Review) bool {
		v := people.Voice(r.Author.Login, r.Author.Bot)
		settles := v.Decides() && (!people.ByApp || !o.grave() || o.maintained()) // of ours nobody else could settle it
		return r.SubmittedAt.After(o.at) && (settles || !v.Bot && !o.maintained() && strings.EqualFold(v.Login, o.by))
	})
}

// Withdrawn reports whether who objected has approved the pull request since, where their comment was deleted: who may not write may not resolve the thread either.
func (o Objection) Withdrawn(d review.Discussion) bool {
	if o.maintained() {
		return false
	}
	there := slices.ContainsFunc(d.Threads, func(t review.Thread) bool { return slices.ContainsFunc(t.Comments, o.is) })
	return !there && slices.ContainsFunc(approvals(d), func(r review.Review) bool {
		return !r.Author.Bot && strings.EqualFold(r.Author.Login, o.by) && r.SubmittedAt.After(o.at)
	})
}

// stands reports whether an objection stands in a thread, who objected having not taken it back, and nobody has resolved that whose word settles it.
func (o Objection) stands(in review.Thread, people conversation.People) bool {
	t := conversation.Thread{Closed: in.Resolved}
	if by := in.ResolvedBy; by != nil {
		t.ClosedBy, t.ClosedByBot = by.Login, by.Bot
	}
	if o.maintained() {
		return people.Weighs(t, true)
	}
	for _, c := range in.Comments {
		if o.is(c) {
			t.DeveloperReplies = []conversation.Reply{{ID: c.DatabaseID, Author: c.Author.Login, Body: c.Body, EditedBy: c.EditedBy, Timestamp: c.CreatedAt, Edited: c.EditedAt, Association: c.Author.Association, Bot: c.Author.Bot, After: true}}
		}
	}
	_, stands := people.Objection(t, o.grave())
	return stands
}
