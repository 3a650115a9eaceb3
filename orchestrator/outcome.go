package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// reviewable reports whether there is anything to hand to a reviewer.
func reviewable(b review.Brief) bool {
	files, _ := b.Given()
	return files > 0
}

// ends names how the round ends, in the order in which the reasons bind. Approval is the last resort: it takes a
// complete review of everything, a verdict without P0-P2, and no open thread (spec.md L4).
func (m matched) ends(v review.Conclusion, why string, c counted) (review.Outcome, string) {
	brief := m.in.Snapshot.Brief
	need := m.in.Request.minReviewers()
	switch {
	case m.wrong != nil:
		return review.Failed, fmt.Sprintf("prloop disagrees with itself: its static reviewer found %q in %s, and its check of evidence says that it %s; please report this",
			m.wrong.Finding.Title, sanitize.CodeSpan(m.wrong.Finding.File), m.wrong.Reason)
	case len(brief.Files) == 0:
		return review.NotReviewed, "the diff is empty: there was nothing to review"
	case !reviewable(brief):
		return review.NotReviewed, "every changed file was left out: no reviewer saw any of it"
	case m.complete < need && m.outOf() != "":
		return review.Budget, fmt.Sprintf("the budget for %s ran out when %d of %d needed reviewers had answered", m.outOf(), m.complete, need)
	case m.complete == 0:
		return review.NotReviewed, "no reviewer gave a complete answer"
	case m.complete < need:
		return review.Partial, fmt.Sprintf("%d of the %d needed reviewers gave a complete answer", m.complete, need)
	case v != review.Approve:
		return review.ChangesRequested, why
	case m.cameBack():
		return review.ChangesRequested, why // converge has the word
	case len(m.setAside()) > 0:
		return review.SetAside, m.setAsideWords()
	case c.doubted > 0:
		return review.SetAside, fmt.Sprintf("%s not counted by the rule, and nothing proves %s wrong: a person has to look",
			plural(c.doubted, "P1 finding is", "P1 findings are"), them(c.doubted))
	case len(m.read.Unread()) > 0:
		return review.Partial, plural(len(m.read.Unread()), "changed file was", "changed files were") + " not reviewed"
	case m.cutShort() != "":
		return review.Partial, m.cutShort()
	case m.untold() != "":
		return review.Partial, m.untold()
	case len(m.unasked(c)) > 0:
		return review.Partial, m.unaskedWords(m.unasked(c))
	case len(m.unheard()) > 0:
		return review.Partial, unheardWords(m.unheard())
	case len(m.owing()) > 0:
		return review.Partial, owingWords(m.owing())
	case m.withoutRules():
		return review.Partial, "the static reviewer gave no complete answer: its rules were not applied"
	case len(m.silent()) > 0:
		return review.Partial, fmt.Sprintf("the command %s gave no complete answer", sanitize.CodeSpan(m.silent()[0]))
	case brief.Status != "ok":
		return review.Partial, "the change is larger than the context budget: a part of it was not reviewed"
	case m.comments.ThreadsTruncated:
		return review.Partial, "the discussion is longer than what was read: open threads may exist"
	case m.comments.Stats.Unresolved > 0:
		return review.ChangesRequested, m.in.unresolvedWords(m.comments.Stats.Unresolved)
	case len(m.unpassed()) > 0:
		return review.ChangesRequested, "the reviewers find nothing more, but this head does not pass " + commandsOf(m.unpassed())
	}
	if m.in.Request.staticOnly() {
		return review.StaticOnly, "rules alone looked for known patterns, and no model took part: this is no approval"
	}
	return review.Converged, why
}

// cameBack reports whether something came back after a fix that had to be fixed in one of its rounds. It is stuck, however few raise it this time and however minor they call it
// (threats.md T859).
func (m matched) cameBack() bool {
	return slices.ContainsFunc(m.stuck, func(g int) bool {
		return slices.ContainsFunc(slices.Concat(m.in.Earlier[m.same[g]].Findings, m.tracked[g].Findings), func(f review.Finding) bool { return weigh(f.Priority) > 0 })
	})
}

// unresolvedWords say how many threads are unresolved, and what to do where prloop may have opened some of them itself.
func (in Inputs) unresolvedWords(n int) string {
	words := plural(n, "review thread is", "review threads are") + " unresolved"
	if s := in.Snapshot.Conversation; s != nil && s.Metadata.Foreign > 0 {
		words += fmt.Sprintf("; the account of prloop opened %d, with a key that is unknown here, so they have to be resolved by hand: jobs and machines know each other's comments when they share `PRLOOP_MARKER_KEY` (docs/threads.md)", s.Metadata.Foreign)
	}
	return words
}

// unasked are the grave findings of earlier rounds that nobody raised again so that it counts, and of which nobody who had raised
// them gave a complete answer since: silence of others does not settle them, and neither does what others say of them without support.
func (m matched) unasked(c counted) (left []Tracked) {
	for i, t := range m.tracked {
		again := i < len(m.groups) // the findings of this round come first, and behind their wordings those of who was not heard again
		switch {
		case again && (c.counts[m.groups[i][0]] || len(t.Findings) == len(m.groups[i])):
		case !again && (t.Round == m.in.Round || t.Settled || !slices.ContainsFunc(t.Findings, objections.Grave)):
		default:
			left = append(left, t)
		}
	}
	return left
}

// unaskedWords say why such findings are left.
func (m matched) unaskedWords(left []Tracked) string {
	why := "gave no complete answer this time"
	switch n := len(slices.DeleteFunc(slices.Clone(left), func(t Tracked) bool { return !m.doubted(t) })); {
	case n == len(left):
		why = fmt.Sprintf("did not raise %s again, but says that it remains or is not sure that it is gone", them(n))
	case n > 0:
		why += ", or is not sure that it is gone"
	}
	return fmt.Sprintf("%s of an earlier round, and who raised %s %s", plural(len(left), "grave finding is left", "grave findings are left"), them(len(left)), why)
}

// outOf names the budget that kept a reviewer from answering.
func (g gathered) outOf() string {
	for _, h := range g.in.Reports {
		if r := h.Answer.Receipt; r.Role == review.RoleReviewer && r.State != review.AgentComplete && r.OutOf != "" {
			return r.OutOf
		}
	}
	return ""
}

// speaks reports whether the verdict may be shown. A review that is not complete may ask for changes, never approve.
func (d verdict) speaks(o review.Outcome) bool {
	switch o {
	case review.Converged, review.ChangesRequested, review.Diverging:
		return true
	case review.Stuck, review.Partial, review.Budget, review.StaticOnly:
		return d.verdict.Consensus != review.Approve
	}
	return false
}
