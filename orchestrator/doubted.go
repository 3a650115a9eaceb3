package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// shownAs is the id under which reviewers are shown a finding of an earlier round.
func (t Tracked) shownAs() string {
	if t.ID != "" {
		return t.ID // what the claims call it
	}
	return t.Findings[0].ID
}

// doubts is what a reviewer says of an earlier finding that it does not say is fixed; nil when it says so, or nothing. Silence is no
// doubt: a complete answer without the finding settles it.
func (g gathered) doubts(t Tracked, agent string) *review.EarlierVerdict {
	for _, h := range g.in.Reports {
		r := h.Answer.Reviewer
		if r == nil || h.Answer.Receipt.Name != agent {
			continue
		}
		i := slices.IndexFunc(r.Earlier, func(v review.EarlierVerdict) bool {
			return v.FindingID == t.shownAs() && v.Verdict != review.EarlierFixed
		})
		if i >= 0 {
			return &r.Earlier[i]
		}
	}
	return nil
}

// doubted is whether somebody who raised an earlier finding says that it remains, or that nobody can tell. It is asked about findings that
// nobody raised again.
func (g gathered) doubted(t Tracked) bool {
	return slices.ContainsFunc(t.Findings, func(f review.Finding) bool { return g.doubtedBy(t, f.Source) })
}

// doubtedBy is doubted for one of those who raised it. What fell silent is no doubt.
func (g gathered) doubtedBy(t Tracked, by review.Source) bool {
	return by.Type == "agent" && !t.silent(by) && g.doubts(t, by.Name) != nil
}

// contradictions are notes about verdicts on earlier findings that no finding of this round bears out.
func (m matched) contradictions() (out []string) {
	for i, t := range m.in.Earlier {
		if slices.Contains(m.same, i) {
			continue
		}
		for _, h := range m.in.Reports {
			name := h.Answer.Receipt.Name
			v := m.doubts(t, name)
			if v == nil || t.silent(review.Source{Type: "agent", Name: name}) || v.Verdict == review.EarlierUnsure && !slices.ContainsFunc(t.Findings, func(f review.Finding) bool { return f.Source.Name == name }) {
				continue
			}
			what := "that it remains, and no finding of this round that counts bears it out"
			if v.Verdict == review.EarlierUnsure {
				what = "that it cannot tell"
			}
			text := fmt.Sprintf("%s says of an earlier %s (%s) %s", sanitize.CodeSpan(name), t.Findings[0].Priority, t.Findings[0].Title, what)
			if v.Why != "" {
				text += ": " + v.Why
			}
			out = append(out, text)
		}
	}
	return out
}
