package orchestrator

import (
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/review"
)

// judgeCommand is Judge for a run that is one command and no review. What has to be fixed asks for changes; nothing approves.
func judgeCommand(in Inputs) Judgement {
	result := review.RunResult{
		Run: in.Request.Run, Target: in.Request.Target, URL: in.Snapshot.PR.URL, Round: in.Round, Command: in.Request.alone().ID, Rules: []int{}, Findings: []review.Finding{},
		Groups: []review.Group{}, Unverified: []review.Unverified{}, Stuck: []review.Finding{}, Comments: []string{}, Started: in.Request.Started, Receipt: gathered{in: in}.makeReceipt(),
	}
	if len(in.Reports) == 0 { // there is nothing it could have been asked about
		result.Outcome, result.Reason = review.NotReviewed, "the diff is empty: there was nothing to ask about"
		return Judgement{Inputs: in, Result: result, Report: "## prloop: nothing to ask about\n"}
	}
	h := in.Reports[0]
	g, counts, short := in.said(h), in.Request.alone().Counts, in.short(*in.Request.alone())
	findings := g.findings
	result.Findings, result.Unverified = findings, append(result.Unverified, g.unverified...)
	result.Dismissed, result.DismissalNotes = g.dismissed, g.dismissalNotes()
	var leads []review.Finding
	for _, group := range identity.Join(findings) {
		result.Groups = append(result.Groups, review.Group{Findings: group, Counts: counts})
		leads = append(leads, findings[group[0]])
	}
	if counts {
		result.Issues, result.Distinct, result.DistinctIssues = review.Count(findings), len(leads), review.Count(leads)
	}
	open := result.DistinctIssues.P0 + result.DistinctIssues.P1 + result.DistinctIssues.P2
	switch r := h.Answer.Receipt; {
	case open > 0:
		result.Outcome, result.Reason = review.ChangesRequested, "the command found "+plural(open, "problem", "problems")+" to fix"
	case r.State != review.AgentComplete && r.OutOf != "":
		result.Outcome, result.Reason = review.Budget, fmt.Sprintf("the budget for %s ran out before the command had answered", r.OutOf)
	case r.State == review.AgentFailed:
		result.Outcome, result.Reason = review.NotReviewed, "the command gave no answer: "+r.Reason
	case r.State != review.AgentComplete:
		result.Outcome, result.Reason = review.Partial, "the command gave no complete answer: "+r.Reason
	case counts && len(g.setAside()) > 0:
		result.Outcome, result.Reason = review.SetAside, g.setAsideWords()
	case counts && h.Untold > 0:
		result.Outcome, result.Reason = review.Partial, "the command "+h.untoldWords(in.Request.alone().ID)
	case counts && short != "":
		result.Outcome, result.Reason = review.Partial, "the command was "+short
	case h.Answer.Command == nil:
		result.Outcome, result.Reason = review.Answered, in.Request.alone().idleWords(in.Snapshot.Brief)+": nobody was asked"
	default:
		result.Outcome, result.Reason = review.Answered, "the command has answered: "+plural(len(leads), "finding", "findings")
	}
	result.Rounds = []review.RoundResult{{Round: in.Round, Head: in.Snapshot.Range.Head, Issues: result.Issues, Distinct: result.Distinct, DistinctIssues: &result.DistinctIssues, Agents: result.Receipt.Agents}}
	return Judgement{Inputs: in, Result: result, Report: in.commandReport(h, nil)}
}

// noAnswer stands where nobody said why.
const noAnswer = "nobody knows why"

// said are the findings of a command's answer: those that stand, those that are set aside and those that people dismissed, each in the one order.
func (in Inputs) said(h AgentReport) gathered {
	g := gathered{in: in, findings: []review.Finding{}, support: map[int]evidence.Status{}}
	if h.Answer.Command == nil {
		return g
	}
	for i, f := range h.Answer.Command.Findings {
		ev := evidence.Result{Status: evidence.None}
		if i < len(h.Evidence) {
			ev = h.Evidence[i]
		}
		switch {
		case f.Unconfirmed != "":
			g.unverified = append(g.unverified, review.Unverified{Finding: f, Reason: f.Unconfirmed})
		case ev.Status == evidence.False:
			g.unverified = append(g.unverified, review.Unverified{Finding: f, Reason: ev.Reason})
		default:
			g.findings = append(g.findings, f)
		}
	}
	slices.SortStableFunc(g.findings, byUrgency)
	slices.SortStableFunc(g.unverified, func(x, y review.Unverified) int { return byUrgency(x.Finding, y.Finding) })
	return g.silence()
}
