package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
)

// unheard are our open threads about grave findings of earlier runs whose reviewers were asked again and gave no complete answer. The silence of others
// does not settle them, as with findings of earlier rounds (unasked), not even where the quoted code is gone: any edit of it does that. Nor does a
// judge. A fix that they saw does, and a person who may.
func (m matched) unheard() (left []conversation.Thread) {
	s := m.in.Snapshot.Conversation
	if s == nil {
		return nil
	}
	people := m.in.Snapshot.persons()
	for _, t := range s.Threads {
		back := t.Ruling == "" && t.Head == m.in.Snapshot.Range.Head // it was cured on another head
		if !t.Live() && !back || !m.unheardOf(t) {
			continue
		}
		if _, _, settled := people.Settled(t, true); !settled && !(m.whole() && m.fixed(t) != nil) {
			left = append(left, t)
		}
	}
	return left
}

// unheardOf reports whether a thread is about a grave finding of which somebody who raised it was asked again and gave no complete answer: each settles
// what they said, and nobody else's.
func (g gathered) unheardOf(t conversation.Thread) bool {
	return slices.ContainsFunc(g.in.Reports, func(h AgentReport) bool { return h.raised(t) && h.Answer.Receipt.State != review.AgentComplete })
}

// raised reports whether an answer is of a reviewer that raised what is grave in a thread.
func (h AgentReport) raised(t conversation.Thread) bool {
	return h.Answer.Receipt.Role == review.RoleReviewer && raisedIn(t, h.Answer.Receipt.Name)
}

// raisedIn reports whether a thread shows something grave from a reviewer.
func raisedIn(t conversation.Thread, name string) bool {
	return slices.ContainsFunc(t.Shown(), func(f review.Finding) bool { return objections.Grave(f) && f.Source.Name == name })
}

// raisedSince reports whether a reviewer of the earlier run has raised something grave on another head since it answered, and the thread is open: its answer
// is not its last word, also where its head is back (threats.md T411).
func (s Stored) raisedSince(snap Snapshot) bool {
	if snap.Conversation == nil {
		return false
	}
	then := s.Inputs.Snapshot.Conversation
	for i, t := range snap.Conversation.Threads {
		known := then != nil && slices.ContainsFunc(then.Threads, func(o conversation.Thread) bool { return o.ID == t.ID })
		open := t.Live() && objections.GraveThread(t) && !snap.decided(i, true)
		if !known && open && t.Head != snap.Range.Head && slices.ContainsFunc(s.Inputs.Reports, func(h AgentReport) bool { return h.raised(t) }) {
			return true
		}
	}
	return false
}

// unheardWords say why such threads are left.
func unheardWords(left []conversation.Thread) string {
	return fmt.Sprintf("%s open, and who raised %s gave no complete answer this time",
		plural(len(left), "grave finding of an earlier run is", "grave findings of earlier runs are"), them(len(left)))
}
