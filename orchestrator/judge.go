package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/consensus"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/threads"
	"github.com/prloop/prloop/internal/wire"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Inputs is everything a verdict rests on. Judging the same inputs gives the same bytes, whatever order the answers stand
// in; `prloop replay` proves it from the artifacts.
type Inputs struct {
	Request  Request  `json:"request"`
	Round    int      `json:"round"`
	Snapshot Snapshot `json:"snapshot"`
	Heard    []Heard  `json:"heard"`
	// Earlier are the findings of earlier rounds, at their places in this round's head.
	Earlier []Tracked `json:"earlier,omitempty"`
	// Written are the lines at this round's head that fixes of this run wrote.
	Written []Written `json:"written,omitempty"`
	// Past is what the earlier rounds came to, oldest first.
	Past []review.RoundResult `json:"past,omitempty"`
}

// Judgement is what one round comes to.
type Judgement struct {
	Inputs Inputs
	Result review.RunResult
	// GoesOn is true when the fixer is to be asked with Payload; Result then says how the run would end without it.
	GoesOn  bool
	Payload review.FixPayload
	// Tracked is what the next round has to know of this one and those before.
	Tracked []Tracked
	// Report is the Markdown body, not yet sanitized as a whole.
	Report string
}

// Judge turns a round's answers into verdict, outcome and report. It is a pure function.
func Judge(in Inputs) Judgement {
	in.Heard = slices.Clone(in.Heard)
	slices.SortStableFunc(in.Heard, func(a, b Heard) int {
		return cmp.Compare(a.Answer.Receipt.Name, b.Answer.Receipt.Name)
	})
	b := bench{in: in, rules: map[string]bool{}}
	b.hearReviewers()
	b.hearComments()
	b.tagCauses()
	b.groups = identity.Join(b.findings)
	b.follow()
	counted, distinct := b.supported()
	b.verdict = consensus.Decide(counted, b.comments.ReviewState)
	b.verdict.Distinct = distinct
	b.saySupport()
	b.receipt = b.makeReceipt()
	outcome, reason := b.outcome()
	goesOn := false
	if outcome == review.ChangesRequested {
		outcome, reason, goesOn = b.converge(reason)
	}
	if outcome == review.ChangesRequested && !goesOn && in.Request.staticOnly() && b.found() {
		outcome = review.StaticOnly
	}
	result := review.RunResult{
		Run: in.Request.Run, Target: in.Request.Target, URL: in.Snapshot.PR.URL, Outcome: outcome, Reason: reason,
		Round: in.Round, Rules: b.verdict.Rules, Issues: b.verdict.Issues, Distinct: b.verdict.Distinct,
		Findings: b.findings, Unsupported: b.unsupported, Unverified: b.unverified, Receipt: b.receipt, Comments: []string{}, Started: in.Request.Started,
		Stuck: []review.Finding{},
	}
	if b.speaks(outcome) {
		word := string(b.verdict.Consensus)
		result.Consensus = &word
	}
	for _, g := range b.stuck {
		result.Stuck = append(result.Stuck, b.findings[b.groups[g][0]])
	}
	result.Review = b.reviewResult(result)
	result.Rounds = append(slices.Clone(in.Past), review.RoundResult{
		Round: in.Round, Head: in.Snapshot.Range.Head, Consensus: result.Consensus, Issues: result.Issues, Distinct: result.Distinct,
		Stuck: len(b.stuck), Introduced: b.introduced, Agents: b.receipt.Agents,
	})
	return Judgement{Inputs: in, Result: result, GoesOn: goesOn, Payload: b.payload, Tracked: b.tracked, Report: b.report(result, goesOn)}
}

// bench gathers the pieces of one judgement.
type bench struct {
	in         Inputs
	findings   []review.Finding
	support    map[int]EvidenceStatus // by index in findings
	unverified []review.Unverified
	// rules names the reviewers that work by rule; unsupported counts the findings that do not count for lack of support.
	rules       map[string]bool
	unsupported int
	comments    review.CommentsResult
	notes       []string
	verdict     review.Verdict
	groups      [][]int
	// counts says, by index in findings, whether a finding counts for the verdict.
	counts  []bool
	receipt review.Receipt
	// complete is how many reviewers that count gave a complete answer, and read what they were given.
	complete int
	read     coverage
	// wrong is a finding of the static reviewer that prloop's own check of evidence denies.
	wrong *review.Unverified

	// same is the earlier finding each group is, -1 for a new one; stuck and fresh are groups that came back after a fix, and
	// new ones on lines a fix wrote, of the weight introduced.
	same         []int
	stuck, fresh []int
	introduced   int
	// region and drift say where and how the fixes do not converge.
	region, drift string
	tracked       []Tracked
	payload       review.FixPayload
}

// hearReviewers gathers the findings of all reviewers. Those of a degraded reviewer count too, for they can only make
// the verdict stricter; its answer does not count towards min_reviewers. Findings whose evidence is false are
// set apart and not counted.
func (b *bench) hearReviewers() {
	type heardFinding struct {
		review.Finding
		status EvidenceStatus
	}
	var counted []heardFinding
	var readers [][]string
	for _, h := range b.in.Heard {
		r := h.Answer.Receipt
		if r.Role == review.RoleReviewer && r.State == review.AgentComplete && b.in.Request.counts(r.Kind) {
			b.complete++
			readers = append(readers, h.Missed)
		}
		if r.Kind == review.KindStatic {
			b.rules[r.Name] = true
		}
		if h.Answer.Reviewer == nil {
			continue
		}
		for i, f := range h.Answer.Reviewer.Findings {
			ev := Evidence{Status: EvidenceNone}
			if i < len(h.Evidence) {
				ev = h.Evidence[i]
			}
			if f.Unconfirmed != "" {
				b.unverified = append(b.unverified, review.Unverified{Finding: f, Reason: f.Unconfirmed})
				continue
			}
			if ev.Status == EvidenceFalse {
				aside := review.Unverified{Finding: f, Reason: ev.Reason}
				if r.Kind == review.KindStatic && b.wrong == nil {
					b.wrong = &aside
				}
				b.unverified = append(b.unverified, aside)
				continue
			}
			counted = append(counted, heardFinding{f, ev.Status})
		}
	}
	for _, path := range submodules(b.in.Snapshot.Brief) {
		b.notes = append(b.notes, fmt.Sprintf("%s is a submodule: what its new commit brings in is not part of this review.", sanitize.CodeSpan(path)))
	}
	slices.SortStableFunc(counted, func(x, y heardFinding) int { return byUrgency(x.Finding, y.Finding) })
	slices.SortStableFunc(b.unverified, func(x, y review.Unverified) int { return byUrgency(x.Finding, y.Finding) })
	b.support = map[int]EvidenceStatus{}
	b.findings = []review.Finding{}
	for i, f := range counted {
		b.findings = append(b.findings, f.Finding)
		b.support[i] = f.status
	}
	if b.unverified == nil {
		b.unverified = []review.Unverified{}
	}
	b.read = cover(b.in.Snapshot.Brief, readers, b.in.Request.minReviewers(), b.hidden())
}

// hearComments takes what people said. Thread counts and the review state are computed from GitHub's data by rule, so
// that no model can argue with rule 0; the analyzer's part is the wording and urgency of what is pending. An analyzer
// that failed is replaced by the rules alone.
func (b *bench) hearComments() {
	if b.in.Request.Target.Local() {
		return
	}
	b.comments = threads.Analyze(b.in.Snapshot.Discussion, b.in.Request.Target.PR)
	for _, h := range b.in.Heard {
		r := h.Answer.Receipt
		if r.Role != review.RoleCommentsAnalyzer {
			continue
		}
		if h.Answer.Comments == nil {
			b.notes = append(b.notes, "The comments analyzer gave no answer; open threads are listed by rule.")
			continue
		}
		if !sameState(h.Answer.Comments.ReviewState, b.comments.ReviewState) {
			b.notes = append(b.notes, "The comments analyzer saw another review state than GitHub's data shows; the data decides.")
		}
		claimed := h.Answer.Comments.PendingIssues
		for _, f := range claimed {
			if wire.Unreadable(f) { // what it may have said of the threads is for a person to see
				b.unverified = append(b.unverified, review.Unverified{Finding: f, Reason: f.Unconfirmed})
			}
		}
		refined, notes := threads.Refine(b.comments, slices.DeleteFunc(slices.Clone(claimed), wire.Unreadable))
		b.comments = refined
		b.notes = append(b.notes, notes...)
	}
	pending := slices.Clone(b.comments.PendingIssues)
	slices.SortStableFunc(pending, byUrgency)
	for _, f := range pending {
		b.support[len(b.findings)] = EvidenceNone
		b.findings = append(b.findings, f)
	}
}

func sameState(a, b review.ReviewState) bool {
	key := func(s review.ReviewState) string {
		var who []string
		for _, p := range s.ChangesRequestedBy {
			who = append(who, strings.ToLower(p.Login))
		}
		slices.Sort(who)
		return fmt.Sprint(s.HasChangesRequested, who)
	}
	return key(a) == key(b)
}

// byUrgency is the one order findings are shown in: urgency, place, words, finder. It is total on what is shown, so the
// order of arrival never shows.
func byUrgency(a, b review.Finding) int {
	line := func(f review.Finding) int {
		if f.Line == nil {
			return 0
		}
		return *f.Line
	}
	return cmp.Or(
		cmp.Compare(a.Priority.Rank(), b.Priority.Rank()),
		cmp.Compare(a.File, b.File),
		cmp.Compare(line(a), line(b)),
		cmp.Compare(a.Title, b.Title),
		cmp.Compare(a.Source.Name, b.Source.Name),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Description, b.Description),
		cmp.Compare(a.Suggestion, b.Suggestion),
		cmp.Compare(a.Evidence, b.Evidence),
	)
}

// reviewable reports whether there is anything to hand to a reviewer.
func reviewable(b review.Brief) bool {
	files, _ := given(b)
	return files > 0
}

// outcome names how the round ends, in the order in which the reasons bind. Approval is the last resort: it takes a
// complete review of everything, a verdict without P0-P2, and no open thread (spec.md L4).
func (b *bench) outcome() (review.Outcome, string) {
	brief := b.in.Snapshot.Brief
	need := b.in.Request.minReviewers()
	switch {
	case b.wrong != nil:
		return review.Failed, fmt.Sprintf("prloop disagrees with itself: its static reviewer found %q in %s, and its check of evidence says that it %s; please report this",
			b.wrong.Finding.Title, sanitize.CodeSpan(b.wrong.Finding.File), b.wrong.Reason)
	case len(brief.Files) == 0:
		return review.NotReviewed, "the diff is empty: there was nothing to review"
	case !reviewable(brief):
		return review.NotReviewed, "every changed file was left out: no reviewer saw any of it"
	case b.complete < need && b.outOf() != "":
		return review.Budget, fmt.Sprintf("the budget for %s ran out when %d of %d needed reviewers had answered", b.outOf(), b.complete, need)
	case b.complete == 0:
		return review.NotReviewed, "no reviewer gave a complete answer"
	case b.complete < need:
		return review.Partial, fmt.Sprintf("%d of the %d needed reviewers gave a complete answer", b.complete, need)
	case b.verdict.Consensus != review.Approve:
		return review.ChangesRequested, b.verdict.Reasons[0]
	case len(b.setAside()) > 0:
		return review.SetAside, fmt.Sprintf("%s set aside and nothing proves %s wrong: a person has to look",
			plural(len(b.setAside()), "P0 or P1 finding was", "P0 or P1 findings were"), them(len(b.setAside())))
	case len(b.read.unread()) > 0:
		return review.Partial, plural(len(b.read.unread()), "changed file was", "changed files were") + " not reviewed"
	case len(b.unasked()) > 0:
		return review.Partial, fmt.Sprintf("%s of an earlier round, and who raised %s gave no complete answer this time",
			plural(len(b.unasked()), "P0 or P1 finding is left", "P0 or P1 findings are left"), them(len(b.unasked())))
	case b.withoutRules():
		return review.Partial, "the static reviewer gave no complete answer: its rules were not applied"
	case brief.Status != "ok":
		return review.Partial, "the change is larger than the context budget: a part of it was not reviewed"
	case b.comments.ThreadsTruncated:
		return review.Partial, "the discussion is longer than what was read: open threads may exist"
	case b.comments.Stats.Unresolved > 0:
		return review.ChangesRequested, fmt.Sprintf("%s unresolved", plural(b.comments.Stats.Unresolved, "review thread is", "review threads are"))
	case len(b.unpassed()) > 0:
		return review.ChangesRequested, "the reviewers find nothing more, but this head does not pass " + commandsOf(b.unpassed())
	}
	if b.in.Request.staticOnly() {
		return review.StaticOnly, "rules alone looked for known patterns, and no model took part: this is no approval"
	}
	return review.Converged, b.verdict.Reasons[0]
}

// unasked are the P0 and P1 findings of earlier rounds that nobody raised again, and of which nobody who had raised them gave a
// complete answer since: silence of others does not settle them.
func (b *bench) unasked() []Tracked {
	return slices.DeleteFunc(slices.Clone(b.tracked), func(t Tracked) bool {
		return t.Round == b.in.Round || t.Settled || !t.Findings[0].Priority.Severe()
	})
}

// severe reports whether one of the wordings of a finding calls it P0 or P1.
func severe(findings []review.Finding) bool {
	return slices.ContainsFunc(findings, func(f review.Finding) bool { return f.Priority.Severe() })
}

// settled reports whether somebody who raised an earlier finding gave a complete answer in this round. A person's is settled by
// the person.
func (b *bench) settled(t Tracked) bool {
	return slices.ContainsFunc(t.Findings, func(f review.Finding) bool {
		if !f.Priority.Severe() { // who thought it minor does not settle that it is severe
			return !severe(t.Findings)
		}
		return f.Source.Type != "agent" || slices.ContainsFunc(b.in.Heard, func(h Heard) bool {
			r := h.Answer.Receipt
			return r.Name == f.Source.Name && r.State == review.AgentComplete
		})
	})
}

// withoutRules reports whether the static reviewer was asked and did not end well. It does not count towards a verdict, but
// what it would have found is not to be passed over.
func (b *bench) withoutRules() bool {
	return slices.ContainsFunc(b.in.Heard, func(h Heard) bool {
		r := h.Answer.Receipt
		return r.Role == review.RoleReviewer && r.Kind == review.KindStatic && r.State != review.AgentComplete
	})
}

// found reports whether a reviewer, not a person, raised something that has to be fixed.
func (b *bench) found() bool {
	return slices.ContainsFunc(b.findings, func(f review.Finding) bool { return f.Source.Type == "agent" && f.Priority != review.P3 })
}

// setAside are the findings that were set aside and are too severe to be passed over (decision 32).
func (b *bench) setAside() []review.Unverified {
	return slices.DeleteFunc(slices.Clone(b.unverified), func(u review.Unverified) bool {
		return !u.Finding.Priority.Severe()
	})
}

// unpassed are the verify commands that passed on the last fix and failed once it was pushed: on the head under review.
func (b *bench) unpassed() []review.Check {
	n := len(b.in.Past)
	if n == 0 || b.in.Past[n-1].Fix == nil {
		return nil
	}
	return failing(b.in.Past[n-1].Fix.PushedChecks)
}

// outOf names the budget that kept a reviewer from answering.
func (b *bench) outOf() string {
	for _, h := range b.in.Heard {
		if r := h.Answer.Receipt; r.Role == review.RoleReviewer && r.State != review.AgentComplete && r.OutOf != "" {
			return r.OutOf
		}
	}
	return ""
}

// speaks reports whether the verdict may be shown. A review that is not complete may ask for changes, never approve.
func (b *bench) speaks(o review.Outcome) bool {
	switch o {
	case review.Converged, review.ChangesRequested, review.Stuck, review.Diverging:
		return true
	case review.Partial, review.Budget, review.StaticOnly:
		return b.verdict.Consensus != review.Approve
	}
	return false
}

// plural writes a count with the right words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short abbreviates an object id for people.
func short(id string) string { return id[:min(len(id), 10)] }
