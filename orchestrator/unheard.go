package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
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

// owing are the reviewers that raised something grave without a thread in an earlier run, as the newest report keeps it, and that were asked again and gave no
// complete answer.
func (g gathered) owing() (names []string) {
	for _, h := range g.in.Reports {
		if r := h.Answer.Receipt; r.Role == review.RoleReviewer && r.State != review.AgentComplete && slices.Contains(g.in.Snapshot.Owing, sanitize.RaisedBy(r.Name)) {
			names = append(names, r.Name)
		}
	}
	return names
}

func owingWords(names []string) string {
	var who []string
	for _, n := range names {
		who = append(who, sanitize.CodeSpan(n))
	}
	return fmt.Sprintf("%s raised something grave in an earlier run and gave no complete answer this time: run the review again, or remove it from the reviewers", strings.Join(who, " and "))
}

// raised are who raised what is grave and open and has no thread that says so, and those that an earlier report names and that have not been heard since, as markers name
// them. A review that converged leaves nothing open.
func (d verdict) raised() (names []string) {
	if d.outcome == review.Converged {
		return nil
	}
	add := func(f review.Finding) {
		if name := sanitize.RaisedBy(f.Source.Name); grave(f) && f.Source.Type == "agent" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for g, group := range d.groups {
		posted := d.in.Inline != nil && d.in.Inline.At[g] != ""
		for _, i := range group {
			f := d.findings[i]
			if !posted && (d.threads[g] < 0 || !raisedIn(d.in.Snapshot.Conversation.Threads[d.threads[g]], f.Source.Name)) {
				add(f)
			}
		}
	}
	for _, u := range d.unverified {
		add(u.Finding)
	}
	for i, t := range d.tracked {
		for _, f := range t.Findings {
			if i >= len(d.groups) && !t.Settled {
				add(f)
			}
		}
	}
	heard := func(name string) bool {
		return slices.ContainsFunc(d.in.Reports, func(h AgentReport) bool {
			r := h.Answer.Receipt
			return r.Role == review.RoleReviewer && r.State == review.AgentComplete && sanitize.RaisedBy(r.Name) == name
		})
	}
	for _, name := range d.in.Snapshot.Owing {
		if !heard(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names[:min(len(names), sanitize.MostRaised)]
}

// raised reports whether an answer is of a reviewer that raised what is grave in a thread.
func (h AgentReport) raised(t conversation.Thread) bool {
	return h.Answer.Receipt.Role == review.RoleReviewer && raisedIn(t, h.Answer.Receipt.Name)
}

// raisedIn reports whether a thread shows something grave from a reviewer.
func raisedIn(t conversation.Thread, name string) bool {
	return slices.ContainsFunc(t.Shown(), func(f review.Finding) bool { return grave(f) && f.Source.Name == name })
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
		open := t.Live() && graveThread(t) && !snap.decided(i, true)
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
