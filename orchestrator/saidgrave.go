package orchestrator

import (
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
)

// leftOpen are the answers in threads that stay open, or are opened again, for what a person says there as grave: those whose own finding is gone, and
// those that are closed over it. Who was told so once is not told again: the thread is opened without a word. So are those in threads that count although somebody resolved
// them nobody knows for which code, or we called them cured: the answer is of this head, so the next resolution is of no older code. One that reviewers alone raised before we did is left to them.
func (j verdict) leftOpen(gone []cure) (out []reply) {
	s, people := j.in.Snapshot.Conversation, j.in.Snapshot.persons()
	if s == nil {
		return nil
	}
	reasons, weighing := map[int]string{}, j.weighing(nil)
	for _, c := range gone {
		reasons[c.thread] = c.reason
	}
	for i, t := range s.Threads {
		reason, cured := reasons[i]
		over := objections.ClosedOver(people, t)
		uncured, counts := j.in.Snapshot.Uncured[t.ID] != "", over || slices.Contains(weighing, i)
		reviewers := uncured && !counts && !cured && t.Status == conversation.Pending
		if (people.Reopens(t) || uncured && !t.Closed) && (counts || reviewers || slices.Contains(j.threads, i)) {
			again := reply{thread: i, answer: conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseVoid}, reason: j.in.Snapshot.voidWhy(t), reopen: t.Closed}
			if reviewers {
				again.answer.Status = conversation.Pending
			}
			out = append(out, again)
			continue
		}
		if !over && (!cured || t.Status == conversation.HandedOver) || !objections.SaysGrave(people, t) {
			continue
		}
		out = append(out, reply{thread: i, answer: conversation.Answer{Status: conversation.HandedOver, Because: conversation.BecauseSaid}, reason: reason, reopen: over,
			silent: t.Status == conversation.HandedOver})
	}
	return out
}
