package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/weight"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// assess applies what the verifier said to what was gathered (decision 38): a finding that it refuted with a fact that stands in the code is
// set aside, and every other one carries the assessment. What rests on a fact that does not stand counts for nothing: a refutation
// is none, and a confirmation only says that the finding is plausible.
func (g gathered) assess() gathered {
	v := g.in.Verifier
	if v == nil || v.Answer.Verifier == nil {
		return g
	}
	said := map[string]review.Assessment{}
	for i, a := range v.Answer.Verifier.Assessments {
		stands := i < len(v.Evidence) && v.Evidence[i].Status == evidence.Verified
		if a.Status == review.Refuted && !stands {
			continue
		}
		if !stands {
			a.Fact = nil
		}
		if a.Status == review.Confirmed && a.Fact == nil {
			a.Status = review.Plausible
		}
		said[a.FindingID] = a
	}
	of := map[int]review.Assessment{}
	suspects := g.suspects()
	for _, s := range suspects {
		if a, ok := said[s.id]; ok {
			a = g.single(a, s, suspects, said)
			_, told := g.wordings(s.group)
			for _, i := range s.group {
				if told[i] { // of the others it said nothing
					of[i] = a
				}
			}
		}
	}
	out := g
	out.findings, out.support, out.unverified = []review.Finding{}, map[int]evidence.Status{}, slices.Clone(g.unverified)
	for i, f := range g.findings {
		a, ok := of[i]
		if ok {
			f.Assessment = &a
		}
		if ok && a.Status == review.Refuted {
			out.unverified = append(out.unverified, review.Unverified{Finding: f, Reason: refutedBecause(a, v.Answer.Receipt.Name)})
			continue
		}
		out.support[len(out.findings)] = g.support[i]
		out.findings = append(out.findings, f)
	}
	slices.SortStableFunc(out.unverified, func(x, y review.Unverified) int { return byUrgency(x.Finding, y.Finding) })
	return out
}

// single is an assessment that calls a finding a duplicate only where the other one is left: it is no duplicate itself, it is not
// refuted, and it is as grave. Whatever else it is called by, the finding is plausible.
func (g gathered) single(a review.Assessment, s suspect, all []suspect, said map[string]review.Assessment) review.Assessment {
	if a.Status != review.Duplicate {
		return a
	}
	at := slices.IndexFunc(all, func(o suspect) bool { return o.id == a.DuplicateOf })
	other := said[a.DuplicateOf].Status
	if at < 0 || other == review.Duplicate || other == review.Refuted ||
		g.findings[all[at].group[0]].Priority.Rank() > g.findings[s.group[0]].Priority.Rank() {
		a.Status, a.DuplicateOf = review.Plausible, ""
	}
	return a
}

func refutedBecause(a review.Assessment, by string) string {
	where := a.Fact.File
	if a.Fact.Line != nil {
		where = fmt.Sprintf("%s:%d", where, *a.Fact.Line)
	}
	return fmt.Sprintf("was refuted by %s, which shows %s: %s", by, sanitize.CodeSpan(where), strings.TrimSpace(a.Reason))
}

// refuted reports whether a finding was set aside by the verifier.
func refuted(u review.Unverified) bool {
	return u.Finding.Assessment != nil && u.Finding.Assessment.Status == review.Refuted
}

// tooGrave reports whether a finding that was set aside keeps the run from approving (decision 32): P0 and P1, and of what a verifier
// refuted also what is P2 and about security.
func tooGrave(u review.Unverified) bool {
	f := u.Finding
	return f.Priority.Severe() || refuted(u) && f.Priority == review.P2 && identity.Security(f.Category)
}

// weigh is what is known of a distinct finding.
func (m matched) weigh(group []int) weight.Facts {
	f := weight.Facts{Priority: m.findings[group[0]].Priority, Style: true, Alone: m.complete < 2, Curve: m.verifierCurve(), Trusted: m.trusted(group)}
	voices := map[string]bool{}
	unsaid := false
	for _, i := range group {
		one := m.findings[i]
		category := identity.Category(one.Category)
		f.Security = f.Security || identity.Security(one.Category)
		f.Style = f.Style && category == review.CategoryStyle
		f.Certain = f.Certain || one.Source.Type != "agent" || m.rules[one.Source.Name] || m.commands[one.Source.Name]
		f.Verified = f.Verified || m.support[i] == evidence.Verified
		f.Score = max(f.Score, one.Score)
		unsaid = unsaid || one.Assessment == nil
		if other := (weight.Facts{Assessment: one.Assessment, Curve: f.Curve}); f.Assessment == nil || other.Points() > (weight.Facts{Assessment: f.Assessment, Curve: f.Curve}).Points() {
			f.Assessment = one.Assessment
		}
		voices[one.Source.Name] = true
	}
	if f.Voices = len(voices); unsaid { // one of those that are the same one now was not looked at
		f.Assessment = nil
	}
	return f
}

// notTakenWords tell the reader what was listed and not counted by the rule.
func (c counted) notTakenWords() (reason, note string) {
	if c.notTaken == 0 {
		return "", ""
	}
	left := plural(c.unlikely, "finding is", "findings are")
	return fmt.Sprintf(" %s not counted by the rule.", left),
		fmt.Sprintf("%s listed and not counted for the verdict: by what the verifier says of them, they are not likely to be fixed before the merge (consensus.rule: verified).", left)
}
