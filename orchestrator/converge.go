package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// nearLines is how far apart two findings of one region may stand (design.md "Convergence").
const nearLines = 20

// weigh is how much a finding of a priority counts in "the weight of findings introduced by fixes": each step of
// urgency is worth twice the next, and suggestions, which are never sent to the fixer as duties, count nothing.
func weigh(p review.Priority) int {
	switch p {
	case review.P1:
		return 4
	case review.P2:
		return 2
	case review.P3:
		return 0
	}
	return 8
}

// turn is what follows on a review that asks for changes: the end with its name, or another fix.
type turn struct {
	outcome review.Outcome
	reason  string
	// goesOn is true when the fixer is to be asked with payload.
	goesOn  bool
	payload review.FixPayload
	// tracked is what is to be remembered, under the names the fixer is given.
	tracked []Tracked
	// region and drift say where and how the fixes do not converge.
	region, drift string
}

// converge decides what follows (design.md "Convergence", spec.md L5). c says which findings count.
func (m matched) converge(c counted, reason string) turn {
	t := turn{outcome: review.ChangesRequested, reason: reason}
	t.payload, t.tracked = m.makePayload(c)
	req := m.in.Request
	open := len(t.payload.IssuesToFix)
	if len(m.stuck) > 0 && open == 0 {
		t.outcome, t.reason = review.Stuck, fmt.Sprintf("manual intervention required: %s after the fixer had reported %s fixed",
			plural(len(m.stuck), "finding came back", "findings came back"), them(len(m.stuck)))
		return t
	}
	if t.region, t.drift = m.divergingRegion(); t.region != "" {
		t.outcome, t.reason = review.Diverging, fmt.Sprintf("the fixes do not converge: %s %s", sanitize.CodeSpan(t.region), t.drift)
		return t
	}
	switch {
	case open == 0 && len(m.waiting) > 0:
		t.reason = m.waitingWords() + ": " + reason
	case open == 0, req.Fix == nil, req.DryRun:
	case m.in.Unruled:
		t.reason = "more was said in a thread while agents were at work, and the next run asks the judge before anything is fixed: " + reason
	case m.in.Round < req.rounds():
		t.goesOn = true
	case m.in.Round > 1:
		left := 0 // all that the report shows as to be fixed, also what is stuck or waits
		for _, must := range m.musts(c) {
			if must {
				left++
			}
		}
		t.reason = fmt.Sprintf("%s after %d rounds, which is all there are: %s",
			plural(left, "finding is left", "findings are left"), m.in.Round, reason)
	}
	return t
}

// waitingWords say whose word findings wait for that are said to be fixed.
func (m matched) waitingWords() string {
	var who []string
	for _, g := range m.waiting {
		for _, i := range m.groups[g] {
			who = append(who, sanitize.CodeSpan(m.findings[i].Source.Name))
		}
	}
	slices.Sort(who)
	return fmt.Sprintf("%s reported fixed, for %s to confirm", plural(len(m.waiting), "finding is", "findings are"), strings.Join(slices.Compact(who), ", "))
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// divergingRegion says where fixes keep making new findings, and in words how; empty when they do not.
func (m matched) divergingRegion() (region, what string) {
	if m.introduced == 0 {
		return "", ""
	}
	for _, g := range m.fresh {
		f := m.findings[m.groups[g][0]]
		if weigh(f.Priority) == 0 {
			continue
		}
		for _, t := range m.in.Earlier {
			if t.Introduced && near(t.Findings[0], f) {
				return regionOf(f), "keeps producing new findings after each fix"
			}
		}
	}
	if n := len(m.in.Past); n > 0 && m.in.Past[n-1].Introduced > 0 && m.introduced >= m.in.Past[n-1].Introduced {
		f := m.findings[m.groups[m.fresh[0]][0]]
		return regionOf(f), fmt.Sprintf("has problems introduced by fixes, which are not decreasing (weight %d, was %d)", m.introduced, m.in.Past[n-1].Introduced)
	}
	return "", ""
}

func near(a, b review.Finding) bool {
	if a.File != b.File || a.File == "" {
		return false
	}
	if a.Line == nil || b.Line == nil {
		return true
	}
	d := *a.Line - *b.Line
	return max(d, -d) <= nearLines
}

func regionOf(f review.Finding) string {
	if f.Line == nil {
		return f.File
	}
	return fmt.Sprintf("%s:%d-%d", f.File, max(*f.Line-nearLines, 1), *f.Line+nearLines)
}

// fixCommits are the commits that fixes of this run pushed, oldest first.
func (g gathered) fixCommits() []string {
	var out []string
	for _, p := range g.in.Past {
		if p.Fix == nil {
			continue
		}
		for _, c := range p.Fix.Commits {
			out = append(out, c.SHA)
		}
	}
	return out
}
