package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
)

const unknown = "unknown"

// sumReceipt begins the summary of a receipt.
const sumReceipt = "Receipt: "

// receipt is the proof of review that closes every report. What machines call the outcome, and the counts that decide, stand here.
func (p *page) receipt(d Data) {
	r := d.Receipt
	p.fold(sumReceipt+gist(d), func() {
		facts := []string{"For: " + p.target(d.Target), fmt.Sprintf("Round: %d of %d", d.Round, d.Rounds)}
		if d.Outcome != "" {
			fact := "Outcome: " + span(string(d.Outcome))
			if d.Reason != "" {
				fact += separator + d.Reason
			}
			facts = append(facts, fact)
		}
		if v := d.Verdict; v != nil {
			facts = append(facts, "Consensus: "+span(string(v.Consensus)), fmt.Sprintf("Raised, which decides: %s", four(v.Issues)),
				fmt.Sprintf("Distinct: %s, %d in all", four(d.Distinct), v.Distinct))
			for i, n := range v.Rules {
				verb := "matches too"
				if i == 0 {
					verb = "decides"
				}
				facts = append(facts, strings.TrimSpace(fmt.Sprintf("Rule %d %s: %s", n, verb, v.Reasons[i])))
			}
		}
		p.add(bullets(append(facts, p.proof(r)...)))
		p.rounds(d.Course)
		p.agents(r.Agents)
		p.leftOut(r)
		p.lookedUp(r.Found)
		p.dismissed(d.Dismissed, d.DismissalNotes)
		p.discussion(d.Discussion)
		p.named("Notes:", d.Notes)
		p.named("Warnings:", r.Warnings)
	})
}

func (p *page) named(name string, lines []string) {
	if len(lines) > 0 {
		p.add(name, bullets(lines))
	}
}

func four(c review.Counts) string {
	return fmt.Sprintf("%d P0, %d P1, %d P2, %d P3", c.P0, c.P1, c.P2, c.P3)
}

// gist is the receipt in a line: who, what it cost, how much was found.
func gist(d Data) string {
	r := d.Receipt
	parts := []string{"rules only"}
	if !r.Static {
		parts[0] = fmt.Sprintf("%d of %s", r.Complete, count(max(r.MinReviewers, reviewers(r)), "reviewer"))
	}
	parts = append(parts, spent(r.Agents)...)
	if v := d.Verdict; v != nil && v.Issues.Total() > 0 {
		parts = append(parts, fmt.Sprintf("%d raised, %d distinct", v.Issues.Total(), v.Distinct))
	}
	return strings.Join(parts, ", ")
}

// reviewers is how many took part, but for those that work by rules.
func reviewers(r review.Receipt) int {
	n := 0
	for _, a := range r.Agents {
		if a.Role == review.RoleReviewer && a.Kind != review.KindStatic {
			n++
		}
	}
	return n
}

// spent is what agents cost together: tokens and dollars as far as they are known.
func spent(agents []review.AgentReceipt) []string {
	total := 0
	for _, a := range agents {
		for _, n := range []*int{a.Usage.InputTokens, a.Usage.OutputTokens} {
			if n != nil {
				total += *n
			}
		}
	}
	if total == 0 {
		return nil
	}
	parts := []string{shortNumber(total) + " tokens"}
	switch bill := review.BillOf(agents...); {
	case bill.Unknown && bill.USD > 0:
		parts = append(parts, fmt.Sprintf("more than %.4f USD", bill.USD))
	case bill.Unknown: // the table names the model
		parts = append(parts, "cost unknown")
	case bill.Known:
		parts = append(parts, fmt.Sprintf("%.4f USD", bill.USD))
	}
	return parts
}

func shortNumber(n int) string {
	if n < 10_000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa((n+500)/1000) + "k"
}

func (p *page) target(t review.Target) string {
	switch {
	case t.Change != "", t.Base == review.EmptyTree:
		return t.String()
	case t.Local():
		return "local changes since " + span(t.Base)
	case t.Repo.Owner == "":
		return fmt.Sprintf("pull request %d", t.PR)
	}
	return fmt.Sprintf("[%s](%s)", span(t.String()), p.links.pull())
}

// proof says what was given and read, at which commits.
func (p *page) proof(r review.Receipt) []string {
	read, who := "Read whole by enough reviewers", "Reviewers"
	if r.Static {
		read, who = "Searched whole by rules", "Searches by rules"
	}
	facts := []string{
		fmt.Sprintf("Given: %d of %s, %d of %s", r.FilesGiven, count(r.Files, "file"), r.HunksGiven, count(r.Hunks, "hunk")),
		fmt.Sprintf("%s: %s", read, count(r.FilesReviewed, "file")),
		fmt.Sprintf("%s: %d complete, %d needed", who, r.Complete, r.MinReviewers),
		"Head: " + span(r.HeadSHA),
		"Merge base: " + span(r.MergeBaseSHA),
		"Base: " + span(r.BaseSHA),
		"Review id: " + span(r.ReviewID),
		"Prompts: " + span(r.PromptVersion),
		"Context: " + span(r.Status),
	}
	if r.Isolation != "" {
		facts = append(facts, "Isolation: "+r.Isolation)
	}
	if r.Config != "" {
		facts = append(facts, "Configuration: "+r.Config)
	}
	if r.Calibration != "" {
		facts = append(facts, "Calibration: "+r.Calibration)
	}
	if r.Masked > 0 {
		values := "values that look like secrets"
		if r.Masked == 1 {
			values = "value that looks like a secret"
		}
		facts = append(facts, fmt.Sprintf("Masked: %d %s, before agents read the change", r.Masked, values))
	}
	return facts
}

// lookedUp says what a finder brought to the review, and what it asked for in vain.
func (p *page) lookedUp(f *review.Found) {
	if f == nil {
		return
	}
	lines := []string{}
	for _, e := range f.Excerpts[:min(len(f.Excerpts), maxLeftOut)] {
		line := span(fmt.Sprintf("%s:%d-%d", e.File, e.Line, e.LineEnd))
		if e.Reason != "" {
			line += separator + e.Reason
		}
		lines = append(lines, line)
	}
	if more := len(f.Excerpts) - maxLeftOut; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more", more))
	}
	if len(f.Excerpts) == 0 {
		lines = append(lines, "nothing")
	}
	if f.Later > 0 {
		lines = append(lines, count(f.Later, "excerpt")+" of earlier rounds left out: a fix changed their files")
	}
	for _, why := range f.Refused {
		lines = append(lines, "Not given: "+why)
	}
	p.named("Found outside the change, for reviewers to read:", lines)
}

func (p *page) leftOut(r review.Receipt) {
	if len(r.LeftOut) > 0 {
		lines := []string{header("Left out", "Why", "May go unread")}
		for _, l := range r.LeftOut {
			path := "..."
			if l.Path != "" {
				path = span(l.Path)
			}
			lines = append(lines, row(path, l.Reason, yesNo(l.Excused)))
		}
		p.add(strings.Join(lines, "\n"))
	}
}

// discussion says what people said, as far as they said anything.
func (p *page) discussion(d *Discussion) {
	if d == nil {
		return
	}
	var lines []string
	if t := d.Threads; t != (review.ThreadStats{}) {
		lines = append(lines, fmt.Sprintf("Threads: %d, of these %d resolved and %d unresolved.", t.Total, t.Resolved, t.Unresolved))
	}
	if d.Truncated {
		lines = append(lines, threadsTruncated)
	}
	for _, c := range d.ChangesRequestedBy {
		lines = append(lines, "Changes requested by "+span(c.Login)+", association "+span(c.Association)+".")
	}
	for _, who := range d.Impostors {
		lines = append(lines, "A comment of "+span(who)+" carries the marker of this tool but is not ours: it was ignored.")
	}
	p.named(discussed, lines)
}

const (
	discussed        = "Discussion:"
	threadsTruncated = "Not all threads could be read."
)

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (p *page) agents(agents []review.AgentReceipt) {
	if len(agents) == 0 {
		return
	}
	lines := []string{header("No.>", "Agent", "Role", "Kind", "Model", "State", "Given", "Findings>", "Attempts>", "Time>", "Calls", "Tokens", "Cost>")}
	var remarks []string
	for i, a := range agents {
		lines = append(lines, row(append([]string{strconv.Itoa(i + 1)}, agentCells(a)...)...))
		if a.Reason != "" {
			remarks = append(remarks, fmt.Sprintf("No. %d is not complete: %s", i+1, a.Reason))
		}
		for _, n := range a.Notes {
			remarks = append(remarks, fmt.Sprintf("No. %d, note: %s", i+1, n))
		}
	}
	p.add(strings.Join(lines, "\n"))
	if remarks != nil {
		p.add(bullets(remarks))
	}
}

func agentCells(a review.AgentReceipt) []string {
	u := a.Usage
	return []string{
		span(a.Name), span(string(a.Role)), span(a.Kind), span(a.Model), span(string(a.State)),
		count(a.FilesGiven, "file") + ", " + count(a.HunksGiven, "hunk"),
		found(a), strconv.Itoa(a.Attempts), strconv.FormatFloat(a.Seconds, 'f', 1, 64) + " s",
		fmt.Sprintf("%d model, %d tool", u.LLMCalls, u.ToolCalls),
		tokens(u),
		dollars(u.CostUSD),
	}
}

// found is how many findings an agent reported, and of how many where it left some out.
func found(a review.AgentReceipt) string {
	if a.Omitted > 0 {
		return fmt.Sprintf("%d of %d", a.Findings, a.Findings+a.Omitted)
	}
	return strconv.Itoa(a.Findings)
}

func tokens(u review.Usage) string {
	if u.InputTokens == nil && u.CachedTokens == nil && u.OutputTokens == nil {
		return unknown
	}
	return fmt.Sprintf("%s in, %s cached%s, %s out", number(u.InputTokens), number(u.CachedTokens), share(u.CachedTokens, u.InputTokens), number(u.OutputTokens))
}

// share is a part of a whole in percent, rounded down; empty when one of them is not known.
func share(part, whole *int) string {
	if part == nil || whole == nil || *whole <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d %%)", 100**part / *whole)
}

// number keeps unknown apart from zero.
func number(n *int) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(*n)
}

func dollars(usd *float64) string {
	if usd == nil {
		return unknown
	}
	return strconv.FormatFloat(*usd, 'f', 4, 64) + " USD"
}
