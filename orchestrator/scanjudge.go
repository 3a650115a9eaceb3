package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/conversation"
	"github.com/prloop/prloop/internal/coverage"
	"github.com/prloop/prloop/internal/escalate"
	"github.com/prloop/prloop/internal/gate"
	"github.com/prloop/prloop/internal/objections"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// narrow makes of a brief what a scout is given: the diff and nothing else, in the order of the diff until the budget is spent. What is left
// out then is unread.
func (q QuickPlan) narrow(b review.Brief) review.Brief {
	b.Guidance, b.Related, b.Files = nil, nil, slices.Clone(b.Files)
	left := q.Limits.ContextTokens
	for i := range b.Files {
		f := &b.Files[i]
		f.Context = nil
		if f.Omitted != "" {
			continue
		}
		if q.Limits.ContextTokens > 0 && estimatedTokens(f.Diff) > left {
			f.Omitted, f.Diff, f.HunksGiven = "over the budget of the quick scan", "", 0
			b.Status = "truncated"
			continue
		}
		left -= estimatedTokens(f.Diff)
	}
	return b
}

// estimatedTokens is the size of a diff for a model, rounded up: three bytes are a token, and the margin of each line is some more.
func estimatedTokens(diff string) int { return (len(diff)+2)/3 + 3*strings.Count(diff, "\n") }

// scanned reports whether a scan is all there is to judge.
func (in Inputs) scanned() bool {
	return in.Request.Quick != nil && in.Escalated == "" && len(in.Reports) == 0 && in.Request.alone() == nil
}

// onlyScanned reports whether a run ended with its scan.
func onlyScanned(r review.RunResult) bool { return r.Scan != nil && r.Scan.Escalated == "" }

// scout is the complete answer of the scout; nil when there is none.
func (in Inputs) scout() *review.ScoutResult {
	if in.Scan == nil || in.Scan.Answer.Receipt.State != review.AgentComplete {
		return nil
	}
	return in.Scan.Answer.Scout
}

// scouted are the facts of the gate with what the scout says of them.
func (in Inputs) scouted(f gate.Facts) gate.Facts {
	if s := in.scout(); s != nil {
		f.Scout = s.Complexity
	}
	return f
}

// scanResult is the scan as the result of a run has it; nil when there was none.
func (in Inputs) scanResult() *review.Scan {
	if in.Scan == nil {
		return nil
	}
	out := &review.Scan{Observations: []review.Observation{}, Reasons: []string{}, Escalated: in.Escalated}
	if s := in.scout(); s != nil {
		out.Complexity, out.Verdict = s.Complexity, s.Verdict
		out.Observations, out.Reasons = append(out.Observations, s.Observations...), append(out.Reasons, s.Reasons...)
	}
	if in.scanned() {
		out.Standing = in.standing()
	}
	return out
}

// scanCoverage is which changed files stood whole in the scout's request.
func (in Inputs) scanCoverage() coverage.Coverage {
	var readers [][]string
	if in.scout() != nil {
		readers = [][]string{in.Scan.Missed}
	}
	return coverage.Of(in.Snapshot.Brief, readers, nil, 1, in.hidden())
}

// whole reports whether the scout gave a complete answer and was given every changed line.
func (in Inputs) whole() bool {
	return in.scout() != nil && in.Snapshot.Brief.Status == "ok" && len(in.scanCoverage().Unread()) == 0
}

// standing is what keeps a pull request from passing by a scan, whatever the scout says: a scan settles nothing that a person, or a full
// review, asked for.
func (in Inputs) standing() []string {
	out := []string{}
	if in.Request.Target.Local() {
		return out
	}
	said := collectComments(in)
	if by := said.ReviewState.ChangesRequestedBy; said.ReviewState.HasChangesRequested && slices.ContainsFunc(by, func(c review.ChangesRequestedBy) bool { return review.MayBlock(c.Association) }) {
		out = append(out, "Changes are requested by somebody who may block.")
	}
	if n := said.Stats.Unresolved; n > 0 {
		out = append(out, in.unresolvedWords(n)+".")
	}
	if said.ThreadsTruncated {
		out = append(out, "The discussion is longer than what was read: open threads may exist.")
	}
	if s := in.Snapshot.Conversation; s != nil {
		open, over, weigh, people := 0, 0, 0, in.Snapshot.persons()
		for _, t := range s.Threads {
			if people.Live(t) && (!t.Closed || people.Returns(t)) {
				open++
			}
			if objections.ClosedOver(people, t) {
				over++
			} else if in.Snapshot.weighs(t) {
				weigh++
			}
		}
		if weigh > 0 {
			out = append(out, plural(weigh, "thread about something grave counts", "threads about something grave count")+" although somebody resolved "+them(weigh)+": the code is as it was, and nobody who can settle that did.")
		}
		if over > 0 {
			out = append(out, "A person says P0 or P1 in "+plural(over, "thread", "threads")+", and nobody who can settle that has resolved "+them(over)+".")
		}
		if open > 0 {
			out = append(out, plural(open, "finding of an earlier review is", "findings of an earlier review are")+" open in a thread.")
		}
	}
	if url := in.asking(); url != "" {
		out = append(out, "The newest full review did not approve ("+url+").")
	}
	if url := in.Snapshot.Unproven; url != "" {
		out = append(out, "The newest full review did not approve ("+url+"). It was signed with another key than the one here: jobs and machines know each other's comments when they share `PRLOOP_MARKER_KEY` (docs/threads.md).")
	}
	if url := in.Snapshot.Hidden; url != "" {
		out = append(out, "The newest full review did not approve ("+url+"). Its report was hidden.")
	}
	if url := in.Snapshot.Unreported; url != "" {
		out = append(out, "A full review was to follow on a scan ("+url+"), and has not reported.")
	}
	if why := in.Snapshot.Unapproved; why != "" {
		out = append(out, why)
	}
	return out
}

// asking is the address of the newest open report of ours that has a say about this change and does not approve; empty when none does.
func (in Inputs) asking() string {
	reports := slices.DeleteFunc(slices.Clone(in.Snapshot.Ours), func(c OurComment) bool { return !c.Asks && !c.Approves })
	slices.Reverse(reports)
	for _, c := range speaking(reports, sanitize.BaseNamed(in.Request.base(in.Snapshot.PR)), func(c OurComment) string { return c.Base }) {
		if c.Asks {
			return c.URL
		}
	}
	return ""
}

// weighs reports whether a thread counts, although somebody has resolved it and nobody raises its finding again, as a scan raises none (threats.md T608).
func (s Snapshot) weighs(t conversation.Thread) bool {
	return t.Closed && slices.Contains(s.Unchanged, t.ID) && s.persons().Weighs(t, t.Maintained != "")
}

// scanVerdict is what the scan comes to by rule: the scout's word, unless something stands against it.
func (in Inputs) scanVerdict() review.ScanVerdict {
	if s := in.scout(); s == nil || s.Verdict != review.LooksGood || len(in.standing()) > 0 {
		return review.Flag
	}
	return review.LooksGood
}

// changeFacts are what triggers look at before the scan.
func (in Inputs) changeFacts() escalate.Facts {
	f := escalate.Facts{Labels: in.Snapshot.PR.Labels, Held: in.Snapshot.Held, Untrusted: in.Snapshot.Untrusted}
	for _, file := range in.Snapshot.Brief.Files {
		for _, name := range namesOf(file) {
			f.Paths = append(f.Paths, spelling.Raw(name))
		}
		if why := unknown(file); why != "" && f.Unknown == "" {
			f.Unknown, f.Why = spelling.Raw(file.Path), why
		}
		f.Lines += file.Lines()
	}
	return f
}

// fullAfterScan says why a full review follows on the scan; empty when none does.
func (in Inputs) fullAfterScan() string {
	s := escalate.Scan{Whole: in.whole(), Verdict: in.scanVerdict()}
	if said := in.scout(); said != nil {
		s.Complexity = said.Complexity
	}
	return escalate.After(in.Request.Quick.Tier, in.Request.Quick.Triggers, s)
}

// judgeScan is Judge for a run that is a scan and no review. It passes what the scout saw whole and found good, and what nothing stands
// against; it is never an approval.
func judgeScan(in Inputs) Judgement {
	g := gathered{in: in}
	g.read = in.scanCoverage()
	receipt := g.makeReceipt()
	receipt.MinReviewers, receipt.Complete, receipt.Static = 1, 0, false
	if in.scout() != nil {
		receipt.Complete = 1
	}
	result := review.RunResult{
		Run: in.Request.Run, Target: in.Request.Target, URL: in.Snapshot.PR.URL, Round: in.Round, Rules: []int{}, Findings: []review.Finding{},
		Groups: []review.Group{}, Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Comments: []string{}, Started: in.Request.Started,
		Receipt: receipt, Scan: in.scanResult(), Objected: objected(collectComments(in).CommentsResult),
	}
	if result.Scan == nil { // there was nothing to show to a scout
		result.Scan = &review.Scan{Observations: []review.Observation{}, Reasons: []string{}, Standing: in.standing()}
	}
	result.Outcome, result.Reason = in.scanEnds(g.read)
	result.Gate = in.gate(result)
	result.Rounds = []review.RoundResult{{Round: in.Round, Head: in.Snapshot.Range.Head, DistinctIssues: &result.DistinctIssues, Agents: receipt.Agents}}
	return Judgement{Inputs: in, Result: result, Report: report.RenderScan(in.scanReport(result))}
}

// scanEnds names how a scan ends.
func (in Inputs) scanEnds(read coverage.Coverage) (review.Outcome, string) {
	switch {
	case in.Scan == nil && len(in.Snapshot.Brief.Files) == 0:
		return review.NotReviewed, "the diff is empty: there was nothing to scan"
	case in.Scan == nil:
		return review.NotReviewed, "every changed file was left out: there was nothing to scan"
	case in.scout() == nil && in.Scan.Answer.Receipt.OutOf != "":
		return review.Budget, fmt.Sprintf("the budget for %s ran out before the scout had answered", in.Scan.Answer.Receipt.OutOf)
	case in.scout() == nil:
		return review.NotReviewed, "the scout gave no complete answer"
	case in.scout().Verdict != review.LooksGood:
		return review.Flagged, "the scout flags the change"
	case len(in.standing()) > 0:
		return review.Flagged, "the scout has no doubt, but the pull request does not pass by a scan"
	case len(read.Unread()) > 0:
		return review.Partial, plural(len(read.Unread()), "changed file was", "changed files were") + " not in the scout's request"
	case in.Snapshot.Brief.Status != "ok":
		return review.Partial, "the change is larger than the context budget: a part of it was not scanned"
	}
	return review.LGTM, "the scout saw every changed line and nothing to look at closer"
}

// scanReport is a scan as its comment shows it.
func (in Inputs) scanReport(r review.RunResult) report.Scan {
	c := cleanerFor(in.Request.Target)
	s := report.Scan{Target: in.Request.Target, Outcome: r.Outcome, Reason: c.inline(r.Reason), Complexity: r.Scan.Complexity, Reasons: c.lines(r.Scan.Reasons),
		Standing: c.lines(r.Scan.Standing), Receipt: c.receipt(r.Run, r.Receipt)}
	for _, o := range r.Scan.Observations {
		line, _ := lines(o.Line, nil)
		s.Observations = append(s.Observations, report.Observation{Tag: c.inline(o.Tag), Text: c.inline(o.Text), File: o.File, Line: line})
	}
	remarks, notes := gate.Words(r.Gate)
	s.Remarks, s.Notes = c.lines(remarks), c.lines(slices.Concat(keptElsewhere(in.Snapshot.Brief), notes))
	return s
}
