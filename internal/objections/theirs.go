package objections

import (
	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
)

// Overruled reports whether a thread that people began is resolved over what somebody says there as P0 or P1: neither they resolved it, nor somebody else whose word settles a
// grave finding, as in a thread of ours (ClosedOver, threats.md T781). at is the first comment that says so. We never resolve such a thread, so what our account resolved it has resolved by hand.
func Overruled(people conversation.People, in review.Thread) (at int, over bool) {
	t := conversation.Thread{Closed: in.Resolved, Status: conversation.HandedOver}
	if by := in.ResolvedBy; by != nil {
		t.ClosedBy, t.ClosedByBot = by.Login, by.Bot
	}
	for i, c := range in.Comments {
		r := conversation.Reply{ID: c.DatabaseID, Author: c.Author.Login, Body: worst(people, c), Timestamp: c.CreatedAt, Association: c.Author.Association, Bot: c.Author.Bot}
		if t.DeveloperReplies = append(t.DeveloperReplies, r); at == 0 && len(SaidGrave(people, t)) > 0 {
			at = i + 1
		}
	}
	t.Answered = len(t.DeveloperReplies)
	return max(at-1, 0), ClosedOver(people, t)
}

// worst is what a comment in such a thread may have said: of one that somebody else has edited, or nobody knows who, a P0 (threats.md T799). What prloop itself said
// there its reports keep (threats.md T552, T575).
func worst(people conversation.People, c review.Comment) string {
	if c.EditedBy != "" && !people.Voice(c.Author.Login, c.Author.Bot).Own {
		return string(review.P0)
	}
	return c.Body
}

// Resolvers are those of whom has to be known what they may, for they resolved a thread in which somebody says that something is a P0 or a P1.
func Resolvers(d review.Discussion) (out []string) {
	for _, t := range d.Threads {
		for _, c := range t.Comments {
			if t.Resolved && t.ResolvedBy != nil && (c.EditedBy != "" || threads.Severe(c.Body, c.Author.Association)) {
				out = append(out, t.ResolvedBy.Login)
				break
			}
		}
	}
	return out
}
