package orchestrator

import (
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// threaded finds the thread that each distinct finding has, by index in Snapshot.Conversation.Threads; -1 for none. One that we
// settled is none: what comes back is said again.
func (m matched) threaded() []int {
	out := make([]int, len(m.groups))
	for g := range out {
		out[g] = -1
	}
	state := m.in.Snapshot.Conversation
	if state == nil {
		return out
	}
	renamed := map[string]string{}
	for _, f := range m.in.Snapshot.Brief.Files {
		if f.OldPath != "" {
			renamed[f.OldPath] = f.Path
		}
	}
	var said []review.Finding
	var at []int
	for i, t := range state.Threads {
		if !t.Live() {
			continue
		}
		f := t.Asserted()
		if name := renamed[f.File]; name != "" {
			f.File = name
		}
		said, at = append(said, f), append(at, i)
	}
	of := map[int]int{}
	for _, p := range identity.Match(said, m.findings, nil) {
		of[p.B] = at[p.A]
	}
	for g, group := range m.groups {
		for _, i := range group {
			if t, ok := of[i]; ok && out[g] < 0 {
				out[g] = t
			}
		}
	}
	return out
}
