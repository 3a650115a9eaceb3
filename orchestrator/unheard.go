package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// unheard are our open threads about grave findings of earlier runs whose reviewers were asked again and gave no complete answer. The silence of others
// does not settle them, as with findings of earlier rounds (unasked), not even where the quoted code is gone: any edit of it does that. A proven cure
// does, and a person who may.
func (m matched) unheard() (left []conversation.Thread) {
	s := m.in.Snapshot.Conversation
	if s == nil {
		return nil
	}
	answered, people := m.in.rulings(), m.in.Snapshot.persons()
	for i, t := range s.Threads {
		if !t.Live() || !m.unheardOf(t) {
			continue
		}
		_, _, settled := people.Settled(t, true)
		cured := m.whole() && (answered[i].cured || m.fixed(t) != nil)
		if !settled && !cured {
			left = append(left, t)
		}
	}
	return left
}

// unheardOf reports whether a thread is about a grave finding of which somebody who raised it was asked again, and nobody who did gave a complete answer.
func (g gathered) unheardOf(t conversation.Thread) bool {
	if !grave(t.Asserted()) {
		return false
	}
	asked := false
	for _, h := range g.in.Reports {
		if r := h.Answer.Receipt; r.Role == review.RoleReviewer && slices.Contains(t.RaisedBy, r.Name) {
			if r.State == review.AgentComplete {
				return false
			}
			asked = true
		}
	}
	return asked
}

// unheardWords say why such threads are left.
func unheardWords(left []conversation.Thread) string {
	return fmt.Sprintf("%s open, and who raised %s gave no complete answer this time",
		plural(len(left), "grave finding of an earlier run is", "grave findings of earlier runs are"), them(len(left)))
}
