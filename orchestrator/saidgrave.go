package orchestrator

import (
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
)

// saysGrave is the person who says in a thread of ours, in the first words of a reply, that something is a P0 or a P1: one who may block and did not open the
// pull request. Empty when nobody does. What they say is theirs, whatever becomes of our finding: only a person settles it (threats.md T383).
func saysGrave(people conversation.People, t conversation.Thread) string {
	for _, r := range t.DeveloperReplies {
		if v := people.Voice(r.Author, r.Bot); !v.Bot && !v.Author && threads.Severe(r.Body, r.Association) {
			return r.Author
		}
	}
	return ""
}

// closedOver reports whether a thread is closed in which somebody says something grave, and neither they closed it nor somebody else whose word settles a grave
// finding: prloop did, an app, or the author of the pull request.
func closedOver(people conversation.People, t conversation.Thread) bool {
	who, v := saysGrave(people, t), people.Voice(t.ClosedBy, t.ClosedByBot)
	settles := v.Decides() || v.Own && !v.Author && t.Status != conversation.Resolved || !v.Bot && strings.EqualFold(t.ClosedBy, who)
	return t.Closed && who != "" && !settles
}

// leftOpen are the answers in threads that stay open, or are opened again, for what a person says there as grave: those whose own finding is gone, and
// those that are closed over it. Who was told so once is not told again: the thread is opened without a word.
func (j verdict) leftOpen(gone []cure) (out []reply) {
	s, people := j.in.Snapshot.Conversation, j.in.Snapshot.persons()
	if s == nil {
		return nil
	}
	reasons := map[int]string{}
	for _, c := range gone {
		reasons[c.thread] = c.reason
	}
	for i, t := range s.Threads {
		reason, cured := reasons[i]
		over := closedOver(people, t)
		if !over && (!cured || t.Status == conversation.HandedOver) || saysGrave(people, t) == "" {
			continue
		}
		out = append(out, reply{thread: i, answer: conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseSaid}, reason: reason, reopen: over,
			silent: t.Status == conversation.HandedOver})
	}
	return out
}
