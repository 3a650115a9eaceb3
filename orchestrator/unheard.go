package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// unheard are our open threads about grave findings of earlier runs whose reviewers were asked again and gave no complete answer. The silence of others
// does not settle them, as with findings of earlier rounds (unasked), not even where the quoted code is gone: any edit of it does that. Nor does a
// judge. A fix that they saw does, and a person who may.
func (m matched) unheard() (left []conversation.Thread) {
	s := m.in.Snapshot.Conversation
	if s == nil {
		return nil
	}
	for i, t := range s.Threads {
		if m.in.Snapshot.unsettled(i) && m.unheardOf(t) && !(m.whole() && m.fixed(t) != nil) {
			left = append(left, t)
		}
	}
	return left
}

// unsettled reports whether nobody who may has settled what is grave in a thread, and we do not say so at another head.
func (s Snapshot) unsettled(thread int) bool {
	t := s.Conversation.Threads[thread]
	back := t.Ruling == "" && t.Head == s.Range.Head // it was cured on another head
	return (t.Live() || back) && !s.decided(thread, true)
}

// unheardOf reports whether a thread is about a grave finding of which somebody who raised it was asked again and gave no complete answer: each settles
// what they said, and nobody else's.
func (g gathered) unheardOf(t conversation.Thread) bool {
	return slices.ContainsFunc(g.in.Reports, func(h AgentReport) bool { return g.in.raised(h, t) && !hasLooked(h.Answer.Receipt) })
}

// hasLooked reports whether an agent gave a complete answer about the change, whose silence settles something. A command that was given no file of it has not looked (threats.md T842).
func hasLooked(r review.AgentReceipt) bool {
	return r.State == review.AgentComplete && !r.Unheard && (r.Role != review.RoleCommand || r.FilesGiven > 0)
}

// heard says in the receipts of answers that count which of them settle nothing by what they do not say: where something of the change went unread by them, or their agent was
// not given all of what it was asked about (threats.md T855), or found more than it may report (threats.md T856).
func (g gathered) heard() gathered {
	g.in.Reports = slices.Clone(g.in.Reports)
	for i, h := range g.in.Reports {
		if r := &g.in.Reports[i].Answer.Receipt; r.State == review.AgentComplete && g.in.Request.decides(h) {
			c := g.in.Request.command(h)
			got := coverage.Of(g.in.Snapshot.Brief, [][]string{h.Missed}, nil, 1, g.in.hidden())
			r.Unheard = g.in.Snapshot.Brief.Status != "ok" || len(got.Unread()) > 0 || h.Untold > 0 || c != nil && g.in.short(*c) != ""
		}
	}
	return g
}

// raised reports whether an answer is of somebody who raised what is grave in a thread.
func (in Inputs) raised(h AgentReport, t conversation.Thread) bool {
	return in.Request.decides(h) && raisedIn(t, h.Answer.Receipt.Name)
}

// owes reports whether an agent has raised something grave that is open: in a thread, in an earlier run without one, or in an earlier round.
func (in Inputs) owes(agent string) bool {
	if s := in.Snapshot.Conversation; s != nil {
		for i, t := range s.Threads {
			if in.Snapshot.unsettled(i) && raisedIn(t, agent) {
				return true
			}
		}
	}
	return slices.Contains(in.Snapshot.Owing, sanitize.RaisedBy(agent)) || slices.ContainsFunc(in.Earlier, func(t Tracked) bool {
		return !t.Settled && slices.ContainsFunc(t.Findings, func(f review.Finding) bool { return objections.Grave(f) && f.Source.Name == agent })
	})
}

// widened is the plan by which an agent is asked. A command that counts is given the whole change while it owes an answer: what it raised may stand in a file that it is not about by now,
// behind more files than its limits let through (threats.md T842).
func (in Inputs) widened(plan AgentPlan) AgentPlan {
	if plan.Command == nil || in.Request.Alone || !plan.decides() || !in.owes(plan.Name) {
		return plan
	}
	return plan.widened()
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
		if !known && open && t.Head != snap.Range.Head && slices.ContainsFunc(s.Inputs.Reports, func(h AgentReport) bool { return s.Inputs.raised(h, t) }) {
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
