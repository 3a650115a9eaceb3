package history

import (
	"fmt"

	"github.com/prloop/prloop/sanitize"
)

// Posted is what one round of a run posted: Created requests that make comments on the timeline and reviews, and Answers in threads.
type Posted struct{ Created, Answers int }

// PerRound is what each round posted, by run and round, from the markers of what was sent and took effect.
func (h History) PerRound() map[string]Posted {
	out := map[string]Posted{}
	for _, e := range h.Log {
		if !e.Write || e.Login != h.Login || !happened(e) {
			continue
		}
		a := read(e)
		if a == nil || a.kind != "comment" && a.kind != "edit-comment" && a.kind != "review" && a.kind != "reply" {
			continue
		}
		m, ok := sanitize.ParseMarker(a.body)
		if !ok || m.Run == "" {
			continue
		}
		round := fmt.Sprintf("%s, round %d", m.Run, m.Round)
		p := out[round]
		if a.kind == "reply" {
			p.Answers++
		} else {
			p.Created++
		}
		out[round] = p
	}
	return out
}
