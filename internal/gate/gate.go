// Package gate is what the commit status of a pull request says of a review: which policy holds for this one, and what it makes
// of how the run ended (decision 52). It is pure.
package gate

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/review"
)

// Context is the name of the status, which branch protection may require.
const Context = "pr-reviewer"

// Policy is what a repository wants of the status.
type Policy string

// The policies, from the one that asks for least to the one that asks for most.
const (
	// Off: no status is set.
	Off Policy = "off"
	// Presence waits for the review, whatever it says.
	Presence Policy = "presence"
	// NonTrivial is Verdict, but a trivial change passes although a complete review asks for changes.
	NonTrivial Policy = "verdict-non-trivial"
	// Verdict passes what was approved.
	Verdict Policy = "verdict"
)

// Policies are all of them, in that order.
var Policies = []Policy{Off, Presence, NonTrivial, Verdict}

// Plan is what a repository allows and wants.
type Plan struct {
	Policy Policy `json:"policy"`
	// Labels are the labels that may change the policy for one pull request.
	Labels []string `json:"labels,omitempty"`
}

// Facts are what the status rests on beside how the run ended.
type Facts struct {
	Complexity Complexity `json:"complexity"`
	// Small is what Small says. Scout is the complexity that a scout gave the change; empty when none gave a complete answer.
	Small bool              `json:"small,omitempty"`
	Scout review.Complexity `json:"scout,omitempty"`
	// Labels are those of ours that stand on the pull request.
	Labels []Labelling `json:"labels,omitempty"`
}

// Ending is how a run ended, or a round of it that a fix follows.
type Ending struct {
	Outcome review.Outcome
	// Answered is true when a reviewer, or the scout of a quick scan, gave a complete answer, Asks when the verdict asks for changes, and Unread when something
	// may not go unread and did.
	Answered, Asks, Unread bool
	// Nothing is true when the change held nothing that a reviewer could be given.
	Nothing bool
	// Grave is true when something that was found is a P0 or a P1, or when it is not said how grave that is which keeps the change from passing: a scan flags it, or a thread is open.
	Grave bool
	// Objected is review.RunResult.Objected. How small a change is its author chooses, and what people say no author may wave away (threats.md T847).
	Objected bool
	// Quick is true when a scan was all there was.
	Quick bool
}

// End reads it off a result.
func End(r review.RunResult) Ending {
	asks := r.Consensus != nil && *r.Consensus != string(review.Approve)
	aside := func(u review.Unverified) bool { return grave(u.Finding) }
	untold := !asks && (r.Outcome == review.ChangesRequested || r.Outcome == review.Flagged)
	return Ending{
		Outcome: r.Outcome, Answered: r.Receipt.Complete > 0, Asks: asks, Grave: untold || slices.ContainsFunc(r.Findings, grave) || slices.ContainsFunc(r.Unverified, aside),
		Unread:   r.Receipt.Status != "ok" || slices.ContainsFunc(r.Receipt.LeftOut, func(l review.LeftOut) bool { return !l.Excused }),
		Objected: r.Objected,
		Quick:    r.Scan != nil && r.Scan.Escalated == "", Nothing: r.Outcome == review.NotReviewed && r.Receipt.Nothing(),
	}
}

func grave(f review.Finding) bool { return f.Priority.Severe() }

// Decide says what the status is.
func Decide(p Plan, f Facts, e Ending) review.Gate {
	policy, labels := p.effective(f.Labels)
	trivial := f.trivial(e) && !e.Unread
	out := review.Gate{Policy: string(p.Policy), Effective: string(policy), Labels: labels, Trivial: trivial && !e.Objected}
	out.State, out.Description = decide(policy, trivial, e)
	return out
}

func decide(p Policy, trivial bool, e Ending) (review.GateState, string) {
	said := sentences[e.Outcome]
	small := p == NonTrivial && trivial
	if small && e.Objected {
		small, said = false, said+"; a person objects or may, so it is not trivial"
	}
	switch e.Outcome {
	case review.Converged:
		if e.Unread { // no run converges so; should one, nobody is told that all is well
			return review.GateError, "A part of the change was not reviewed"
		}
		return review.GateSuccess, said
	case review.LGTM:
		if e.Unread || !e.Answered { // no run ends so; should one, it is no success
			return review.GateError, "The quick scan did not see the whole change"
		}
		return review.GateSuccess, said
	case review.Flagged:
		switch {
		case p == Presence && e.Unread: // a scan may be a success only where it saw every changed line
			return review.GateError, "The quick scan did not see the whole change"
		case p == Presence:
			return review.GateSuccess, said + "; the gate waits for the scan alone"
		case small:
			return review.GateSuccess, said + "; the change is trivial and may be merged"
		}
		return review.GateFailure, said
	case review.ChangesRequested, review.Stuck, review.Diverging, review.SetAside:
		switch {
		case p == Presence:
			return review.GateSuccess, said + presence
		case small:
			return review.GateSuccess, said + "; the change is trivial and may be merged"
		}
		return review.GateFailure, said
	case review.StaticOnly: // which is no review, also for who waits for one alone
		if e.Asks && p != Presence {
			return review.GateFailure, said + ", and changes are requested"
		}
		return review.GateError, said
	case review.NotReviewed:
		if e.Nothing {
			return review.GateError, said + ": nothing in the change is for reviewers, a person has to look"
		}
	case review.Partial, review.Budget:
		switch {
		case e.Quick:
			return review.GateError, "The quick scan did not see the whole change"
		case !e.Answered:
			return review.GateError, "Not reviewed: no reviewer gave a complete answer"
		case p == Presence:
			return review.GateSuccess, said + presence
		case e.Asks:
			return review.GateFailure, said + ", and changes are requested"
		}
		return review.GateError, said
	}
	if said == "" {
		said = fmt.Sprintf("The review ended in a way this prloop does not know (%s)", e.Outcome)
	}
	return review.GateError, said
}

// presence ends what is said where the review alone is waited for.
const presence = "; the gate waits for the review alone"

// sentences say how a run ended. They are short, as GitHub shows 140 characters, and of nobody's words but ours.
var sentences = map[review.Outcome]string{
	review.Converged:        "Approved",
	review.ChangesRequested: "Changes requested",
	review.Stuck:            "A person is needed: findings came back after they were fixed",
	review.Diverging:        "A person is needed: fixes make more work than they settle, or grow beyond the pull request",
	review.SetAside:         "A person has to look: a grave finding was set aside",
	review.Partial:          "A part of the change was not reviewed",
	review.Budget:           "The budget ran out before the review was complete",
	review.StaticOnly:       "Rules alone looked, which is no review",
	review.NotReviewed:      "Not reviewed",
	review.Superseded:       "Superseded: the pull request moved on, another run refused it, or somebody asked for a stop",
	review.Failed:           "The review failed",
	review.LGTM:             "Quick scan: looks good",
	review.Flagged:          "Quick scan: flagged, somebody has to look",
}
