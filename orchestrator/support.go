package orchestrator

import (
	"fmt"

	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// supported keeps the findings that count for the verdict under Request.MinSupport (decision 19), and counts the groups
// they make. A group counts whole or not at all: with enough distinct voices, or with one member that needs no second
// voice. At the default of one voice that is every finding, the rule of spec.md A6.
func (b *bench) supported() (counted []review.Finding, distinct int) {
	need := b.minSupport()
	b.counts = make([]bool, len(b.findings))
	for _, group := range b.groups {
		enough := len(group) >= need // a group holds at most one finding of each voice
		for _, i := range group {
			enough = enough || b.alone(i)
		}
		if !enough {
			b.unsupported += len(group)
			continue
		}
		distinct++
		for _, i := range group {
			b.counts[i] = true
		}
	}
	for i, f := range b.findings {
		if b.counts[i] {
			counted = append(counted, f)
		}
	}
	return counted, distinct
}

// minSupport is how many voices a finding needs, never more than gave a complete answer: reviewers that failed must not
// silence those that did not. The static reviewer is no voice here, for nobody else says what it says.
func (b *bench) minSupport() int {
	voices := 0
	for _, h := range b.in.Heard {
		r := h.Answer.Receipt
		if r.Role == review.RoleReviewer && r.State == review.AgentComplete && r.Kind != review.KindStatic {
			voices++
		}
	}
	return max(1, min(b.in.Request.MinSupport, voices))
}

// alone reports whether a finding counts without support: what a person wrote, what a rule found, and a P0 or a security
// problem whose quoted code is there. A repository may ask for less noise, not for less safety (decision 19).
func (b *bench) alone(i int) bool {
	f := b.findings[i]
	if f.Source.Type != "agent" || b.rules[f.Source.Name] {
		return true
	}
	// A priority that is none of the four counts as P0, as in consensus.
	grave := f.Priority == review.P0 || !f.Priority.Valid() || identity.Category(f.Category) == review.CategorySecurity
	return grave && b.support[i] == EvidenceVerified
}

// saySupport tells the reader what was listed and not counted, where the verdict is read and among the notes.
func (b *bench) saySupport() {
	if b.unsupported == 0 {
		return
	}
	without := plural(b.unsupported, "finding without enough support is", "findings without enough support are")
	b.verdict.Reasons[0] += fmt.Sprintf(" %s not counted.", without)
	b.notes = append(b.notes, fmt.Sprintf("%s listed and not counted for the verdict: at least %s must raise the same finding (consensus.min_support).",
		without, plural(b.minSupport(), "reviewer", "reviewers")))
}
