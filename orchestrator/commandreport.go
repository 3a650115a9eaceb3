package orchestrator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
)

// commandReport is the Markdown of a command's own comment, not yet sanitized as a whole. onLines tells which of its findings and wishes stand as comments on lines
// instead; nil is none.
func (in Inputs) commandReport(h AgentReport, onLines func(file string, line, end int) bool) string {
	c, plan := cleanerFor(in.Request.Target), in.Request.command(h)
	d := report.Command{
		Target: in.Request.Target, ID: plan.ID, Title: c.inline(plan.Title), Counts: plan.Counts && (in.Request.Alone || plan.feeds()), Receipt: c.receipt(in.Request.Run, in.commandReceipt(h)),
		Short: c.inline(in.short(*plan)), Nothing: none(plan.narrow(in.Snapshot.Brief)),
	}
	if r := h.Answer.Receipt; r.State != review.AgentComplete {
		d.Reason = c.inline(cmp.Or(r.Reason, noAnswer))
	}
	a := h.Answer.Command
	if a == nil {
		if d.Reason == "" {
			d.Summary = plan.notAsked(in.Snapshot.Brief)
		}
		return report.RenderCommand(d)
	}
	d.Summary, d.Confidence, d.Notes = c.block(a.Summary), a.Confidence, c.lines(slices.Concat(keptElsewhere(plan.narrow(in.Snapshot.Brief)), a.Notes))
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

// notAsked stands for the summary of an idle command.
func (c CommandPlan) notAsked(b review.Brief) string { return "Not asked: " + c.idleWords(b) + "." }

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
	c := in.Request.command(h)
	r.Agents, r.LeftOut = []review.AgentReceipt{h.Answer.Receipt}, in.Request.Context.counted(c.read(c.narrow(in.Snapshot.Brief), in.hidden()).LeftOut)
	return r
}

// sections are the answers of the commands that feed the report.
func (g gathered) sections(c cleaner) (out []report.Section) {
	for _, h := range g.in.Reports {
		plan := g.in.Request.command(h)
		if plan == nil || !plan.feeds() {
			continue
		}
		s := report.Section{ID: plan.ID, Title: c.inline(plan.Title), Counts: plan.Counts, Short: c.inline(g.in.short(*plan)), Nothing: none(plan.narrow(g.in.Snapshot.Brief))}
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
			s.Summary = plan.notAsked(g.in.Snapshot.Brief)
		}
		out = append(out, s)
	}
	return out
}
