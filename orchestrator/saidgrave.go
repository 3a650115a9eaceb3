package orchestrator

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/threads"
)

// saidGrave are the replies in a thread of ours that say in their first words that something is a P0 or a P1: of those who may block and did not open the
// pull request. What they say is theirs, whatever becomes of our finding: only a person settles it (threats.md T383).
func saidGrave(people conversation.People, t conversation.Thread) (out []conversation.Reply) {
	for _, r := range t.DeveloperReplies {
		if v := people.Voice(r.Author, r.Bot); !v.Bot && !v.Author && threads.Severe(r.Body, r.Association) {
			out = append(out, r)
		}
	}
	return out
}

// openGrave are these replies as long as nobody has settled them.
func openGrave(people conversation.People, t conversation.Thread) []conversation.Reply {
	if t.Closed && !closedOver(people, t) {
		return nil
	}
	return saidGrave(people, t)
}

// sayGrave are who says so.
func sayGrave(people conversation.People, t conversation.Thread) (out []string) {
	for _, r := range saidGrave(people, t) {
		out = append(out, r.Author)
	}
	return out
}

// saysGrave reports whether somebody does.
func saysGrave(people conversation.People, t conversation.Thread) bool {
	return len(sayGrave(people, t)) > 0
}

// closedOver reports whether a thread is closed in which people say something grave, and neither they closed it nor somebody else whose word settles a grave
// finding: prloop did, an app, or the author of the pull request. In an app's pull request anybody may be its author. What our account closed before we left the thread to
// people may be prloop's act, also where the same account says so (threats.md T396).
func closedOver(people conversation.People, t conversation.Thread) bool {
	who, v := sayGrave(people, t), people.Voice(t.ClosedBy, t.ClosedByBot)
	theirs := !v.Bot && !(v.Own && t.Status != conversation.HandedOver) && !slices.ContainsFunc(who, func(login string) bool { return !strings.EqualFold(login, t.ClosedBy) })
	settles := v.Decides() || v.Own && !v.Author && leftToPeople(people, t)
	return t.Closed && len(who) > 0 && !theirs && (people.ByApp || !settles)
}

// leftToPeople reports whether our last answer leaves a thread to people after what they say there as grave: we close it no more, so our account has done that by
// hand. Where no such answer stands, somebody may have deleted the one with which we closed it.
func leftToPeople(people conversation.People, t conversation.Thread) bool {
	if t.DeveloperReplies = t.DeveloperReplies[min(t.Answered, len(t.DeveloperReplies)):]; t.Status != conversation.HandedOver {
		return false
	}
	return t.Cured || !saysGrave(people, t)
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
		if !over && (!cured || t.Status == conversation.HandedOver) || !saysGrave(people, t) {
			continue
		}
		out = append(out, reply{thread: i, answer: conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseSaid}, reason: reason, reopen: over,
			silent: t.Status == conversation.HandedOver})
	}
	return out
}
