package objections

import (
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
)

// Overruled reports whether a thread that people began is resolved over what somebody says there as P0 or P1: neither they resolved it, nor somebody else whose word settles a
// grave finding, as in a thread of ours (ClosedOver, threats.md T781). at is the first comment that says so. We never resolve such a thread, so what our account resolved it has resolved by hand.
func Overruled(people conversation.People, in review.Thread) (at int, over bool) {
	t := theirs(people, in)
	at = slices.IndexFunc(t.DeveloperReplies, func(r conversation.Reply) bool { return saysGrave(people, r) })
	return max(at, 0), ClosedOver(people, t)
}

// Holds reports whether a thread that people began is not settled by whoever resolves it, as somebody says there that something is a P0 or a P1.
func Holds(people conversation.People, in review.Thread) bool {
	return len(SaidGrave(people, theirs(people, in))) > 0
}

// theirs is a thread that people began as if it were one of ours.
func theirs(people conversation.People, in review.Thread) conversation.Thread {
	t := conversation.Thread{Closed: in.Resolved, Status: conversation.HandedOver, Answered: len(in.Comments)}
	if by := in.ResolvedBy; by != nil {
		t.ClosedBy, t.ClosedByBot = by.Login, by.Bot
	}
	for _, c := range in.Comments {
		t.DeveloperReplies = append(t.DeveloperReplies, conversation.Reply{ID: c.DatabaseID, Author: c.Author.Login, Body: worst(people, c), Timestamp: c.CreatedAt, Association: c.Author.Association, Bot: c.Author.Bot})
	}
	return t
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
