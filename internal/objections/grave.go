package objections

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/review"
)

// Grave reports whether a finding is one that is not settled by closing its thread.
func Grave(f review.Finding) bool {
	return f.Priority == review.P0 || f.Priority == review.P1 || identity.Security(f.Category)
}

// GraveThread reports whether a thread shows a wording that is grave.
func GraveThread(t conversation.Thread) bool { return slices.ContainsFunc(t.Shown(), Grave) }

// SaidGrave are the replies in a thread of ours that say in their first words that something is a P0 or a P1: of those who may block and did not open the
// pull request. What they say is theirs, whatever becomes of our finding: only a person settles it (threats.md T383).
func SaidGrave(people conversation.People, t conversation.Thread) (out []conversation.Reply) {
	for _, r := range t.DeveloperReplies {
		if saysGrave(people, r) {
			out = append(out, r)
		}
	}
	return out
}

func saysGrave(people conversation.People, r conversation.Reply) bool {
	v := people.Voice(r.Author, r.Bot)
	return !v.Bot && !v.Author && threads.Severe(r.Body, r.Association)
}

// OpenGrave are these replies as long as nobody has settled them.
func OpenGrave(people conversation.People, t conversation.Thread) []conversation.Reply {
	if t.Closed && !ClosedOver(people, t) {
		return nil
	}
	return SaidGrave(people, t)
}

// SayGrave are who says so.
func SayGrave(people conversation.People, t conversation.Thread) (out []string) {
	for _, r := range SaidGrave(people, t) {
		out = append(out, r.Author)
	}
	return out
}

// SaysGrave reports whether somebody does.
func SaysGrave(people conversation.People, t conversation.Thread) bool {
	return len(SayGrave(people, t)) > 0
}

// ClosedOver reports whether a thread is closed in which people say something grave, and neither they closed it nor somebody else whose word settles a grave
// finding: prloop did, an app, or the author of the pull request. In an app's pull request anybody may be its author. What our account closed before we left the thread to
// people may be prloop's act, also where the same account says so (threats.md T396). A void resolution is nobody's.
func ClosedOver(people conversation.People, t conversation.Thread) bool {
	who, v := SayGrave(people, t), people.Voice(t.ClosedBy, t.ClosedByBot)
	theirs := !v.Bot && !(v.Own && t.Status != conversation.HandedOver) && !slices.ContainsFunc(who, func(login string) bool { return !strings.EqualFold(login, t.ClosedBy) })
	settles := v.Decides() || v.Own && !v.Author && leftToPeople(people, t)
	return t.Closed && len(who) > 0 && (people.Returns(t) || !theirs && (people.ByApp || !settles))
}

// leftToPeople reports whether our last answer leaves a thread to people after what they say there as grave: we close it no more, so our account has done that by
// hand. Where no such answer stands, somebody may have deleted the one with which we closed it.
func leftToPeople(people conversation.People, t conversation.Thread) bool {
	if t.DeveloperReplies = t.DeveloperReplies[min(t.Answered, len(t.DeveloperReplies)):]; t.Status != conversation.HandedOver {
		return false
	}
	return t.Cured || !SaysGrave(people, t)
}
