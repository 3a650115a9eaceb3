package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/review"
)

// unheard are our open threads about P0 and P1 findings of earlier runs whose reviewers were asked again and gave no complete answer. The silence of others
// does not settle them, as with findings of earlier rounds (unasked); code that is gone does, and so do a cure and a person who may.
func (m matched) unheard() (left []conversation.Thread) {
	s := m.in.Snapshot.Conversation
	if s == nil {
		return nil
	}
	answered, people := m.in.rulings(), m.in.Snapshot.persons()
	for i, t := range s.Threads {
		if !t.Live() || !t.Priority.Severe() || !m.failedAll(t.RaisedBy) {
			continue
		}
		_, _, settled := people.Settled(t, true)
		cured := m.whole() && (slices.Contains(m.in.Snapshot.Gone, t.ID) || answered[i].cured || m.fixed(t) != nil)
		if !settled && !cured {
			left = append(left, t)
		}
	}
	return left
}

// failedAll reports whether one of these agents was asked, and none of those who were gave a complete answer.
func (g gathered) failedAll(agents []string) bool {
	asked := false
	for _, h := range g.in.Reports {
		if r := h.Answer.Receipt; r.Role == review.RoleReviewer && slices.Contains(agents, r.Name) {
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
	return fmt.Sprintf("%s of an earlier run %s open, and who raised %s gave no complete answer this time",
		plural(len(left), "P0 or P1 finding", "P0 or P1 findings"), map[bool]string{true: "is", false: "are"}[len(left) == 1], them(len(left)))
}
