package orchestrator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/evidence"
	"github.com/prloop/prloop/internal/identity"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
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
	g, counts := in.said(h), in.Request.alone().Counts
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
	case h.Answer.Command == nil:
		result.Outcome, result.Reason = review.Answered, "no changed file is one of the command's files: nobody was asked"
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

// commandReport is the Markdown of a command's own comment, not yet sanitized as a whole. onLines tells which of its findings and wishes stand as comments on lines
// instead; nil is none.
func (in Inputs) commandReport(h AgentReport, onLines func(file string, line, end int) bool) string {
	c, plan := cleaner{sanitize.Policy{Repo: in.Request.Target.Repo}}, in.Request.command(h)
	d := report.Command{
		Target: in.Request.Target, ID: plan.ID, Title: c.inline(plan.Title), Counts: plan.Counts && (in.Request.Alone || plan.feeds()), Receipt: c.receipt(in.commandReceipt(h)),
	}
	if r := h.Answer.Receipt; r.State != review.AgentComplete {
		d.Reason = c.inline(cmp.Or(r.Reason, noAnswer))
	}
	a := h.Answer.Command
	if a == nil {
		return report.RenderCommand(d)
	}
	d.Summary, d.Confidence, d.Notes = c.block(a.Summary), a.Confidence, c.lines(a.Notes)
	g := in.said(h)
	d.Dismissed, d.DismissalNotes = c.dismissed(g.dismissed), c.lines(g.dismissalNotes())
	for _, f := range g.findings {
		if line, end := lines(f.Line, f.LineEnd); onLines != nil && onLines(f.File, line, end) {
			d.OnLines, d.Lined = d.OnLines+1, append(d.Lined, c.finding(f))
			continue
		}
		d.Findings = append(d.Findings, c.finding(f))
	}
	for _, u := range g.unverified {
		f := c.finding(u.Finding)
		f.Reason, f.Look = c.inline(u.Reason), tooGrave(u)
		d.Unverified = append(d.Unverified, f)
	}
	for _, w := range a.Wishes {
		if w.Kind == review.WishPostSummary {
			d.Summary = strings.TrimSpace(c.block(w.Body) + "\n\n" + d.Summary)
			continue
		}
		out := report.Wish{Suggestion: w.Kind == review.WishSuggest, Text: c.block(w.Body)}
		if l := w.Location; l != nil {
			out.File = l.File
			if out.Line, out.LineEnd = lines(l.Line, l.LineEnd); onLines != nil && onLines(l.File, out.Line, out.LineEnd) {
				d.OnLines++
				continue
			}
		}
		d.Wishes = append(d.Wishes, out)
	}
	return report.RenderCommand(d)
}

// lines are a place's lines as numbers; 0 where it has none.
func lines(line, end *int) (first, last int) {
	if line != nil {
		first = *line
	}
	if end != nil {
		last = *end
	}
	return first, last
}

// commandReceipt is the proof of what one command was given, and what it cost.
func (in Inputs) commandReceipt(h AgentReport) review.Receipt {
	r := gathered{in: in}.makeReceipt()
	r.Agents, r.LeftOut = []review.AgentReceipt{h.Answer.Receipt}, []review.LeftOut{}
	for _, f := range in.Request.command(h).narrow(in.Snapshot.Brief).Files {
		if f.Omitted != "" {
			r.LeftOut = append(r.LeftOut, review.LeftOut{Path: f.Path, Reason: f.Omitted, Excused: true})
		}
	}
	r.LeftOut = in.Request.Context.counted(r.LeftOut)
	return r
}

// sections are the answers of the commands that feed the report.
func (g gathered) sections(c cleaner) (out []report.Section) {
	for _, h := range g.in.Reports {
		plan := g.in.Request.command(h)
		if plan == nil || !plan.feeds() {
			continue
		}
		s := report.Section{ID: plan.ID, Title: c.inline(plan.Title), Counts: plan.Counts}
		if r := h.Answer.Receipt; r.State != review.AgentComplete {
			s.Reason = c.inline(cmp.Or(r.Reason, noAnswer))
		}
		if a := h.Answer.Command; a != nil {
			findings := g.in.said(h).findings
			s.Summary, s.Confidence, s.Found = c.block(a.Summary), a.Confidence, len(findings)
			for _, f := range findings {
				s.Listed = append(s.Listed, c.finding(f))
			}
		}
		if h.Answer.Command == nil && s.Reason == "" {
			s.Summary = "No changed file is one of its files: it was not asked."
		}
		out = append(out, s)
	}
	return out
}
