package orchestrator

import (
	"fmt"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// counted is what counts for the verdict under Request.MinSupport (decision 19) and Request.Rule (decision 39).
type counted struct {
	// counts says, by index in findings, whether a finding counts; counting are those that do, and distinct the groups they make.
	counts   []bool
	counting []review.Finding
	distinct int
	// leads are the gravest wordings of the distinct findings that count.
	leads []review.Finding
	// unsupported is how many do not count for lack of support, need how many voices each of them lacks one of.
	unsupported, need int
	// weak and unlikely are how many distinct findings unsupported and notTaken are.
	weak, unlikely int
	// notTaken is how many more the rule leaves out, left says which, by index; doubted is how many distinct ones of these are P1.
	notTaken, doubted int
	left              map[int]bool
}

// supported keeps the findings that count for the verdict. A group counts whole or not at all: with enough distinct voices, or
// with one member that needs no second voice. At the default of one voice that is every finding, the rule of spec.md A6.
func (m matched) supported() counted {
	c := counted{counts: make([]bool, len(m.findings)), need: m.minSupport(), left: map[int]bool{}}
	for _, group := range m.groups {
		enough := len(group) >= c.need // a group holds at most one finding of each voice
		for _, i := range group {
			enough = enough || m.alone(i)
		}
		if !enough {
			c.unsupported += len(group)
			c.weak++
			continue
		}
		if facts := m.weigh(group); m.in.Request.Rule == RuleVerified && !facts.Counts() {
			c.notTaken += len(group)
			c.unlikely++
			for _, i := range group {
				c.left[i] = true
			}
			if facts.Priority.Severe() {
				c.doubted++
			}
			continue
		}
		c.distinct++
		c.leads = append(c.leads, m.findings[group[0]])
		for _, i := range group {
			c.counts[i] = true
		}
	}
	for i, f := range m.findings {
		if c.counts[i] {
			c.counting = append(c.counting, f)
		}
	}
	return c
}

// minSupport is how many voices a finding needs, never more than gave a complete answer: reviewers that failed must not
// silence those that did not. The static reviewer is no voice here, for nobody else says what it says.
func (g gathered) minSupport() int {
	voices := 0
	for _, h := range g.in.Reports {
		r := h.Answer.Receipt
		if r.Role == review.RoleReviewer && r.State == review.AgentComplete && r.Kind != review.KindStatic {
			voices++
		}
	}
	return max(1, min(g.in.Request.MinSupport, voices))
}

// alone reports whether a finding counts without support: what a person wrote, what a rule found, and a P0 or a security
// problem whose quoted code is there. A repository may ask for less noise, not for less safety (decision 19).
func (g gathered) alone(i int) bool {
	f := g.findings[i]
	if f.Source.Type != "agent" || g.rules[f.Source.Name] || g.commands[f.Source.Name] {
		return true
	}
	// A priority that is none of the four counts as P0, as in consensus.
	grave := f.Priority == review.P0 || !f.Priority.Valid() || identity.Security(f.Category)
	return grave && g.support[i] == evidence.Verified
}

// unsupportedWords tell the reader what was listed and not counted, where the verdict is read and among the notes; empty when
// all counts.
func (c counted) unsupportedWords() (reason, note string) {
	if c.unsupported == 0 {
		return "", ""
	}
	without := plural(c.weak, "finding without enough support is", "findings without enough support are")
	return fmt.Sprintf(" %s not counted.", without),
		fmt.Sprintf("%s listed and not counted for the verdict: at least %s must raise the same finding (consensus.min_support).",
			without, plural(c.need, "reviewer", "reviewers"))
}
