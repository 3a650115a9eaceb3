package report

import (
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var (
	givenLine     = lazyregexp.New(`^- Given: (-?\d+) of (-?\d+) files?, (-?\d+) of (-?\d+) hunks?$`)
	wholeLine     = lazyregexp.New(`^- Read whole by enough reviewers: (-?\d+) files?$`)
	searchedLine  = lazyregexp.New(`^- Searched whole by rules: (-?\d+) files?$`)
	reviewersLine = lazyregexp.New(`^- Reviewers: (-?\d+) complete, (-?\d+) needed$`)
	searchesLine  = lazyregexp.New(`^- Searches by rules: (-?\d+) complete, (-?\d+) needed$`)
	givenCell     = lazyregexp.New(`^(-?\d+) files?, (-?\d+) hunks?$`)
	callsCell     = lazyregexp.New(`^(-?\d+) model, (-?\d+) tool$`)
	tokensCell    = lazyregexp.New(`^(\S+) in, (\S+) cached(?: \(\d+ %\))?, (\S+) out$`)
	remarkLine    = lazyregexp.New(`^No\. (\d+)( is not complete:|, note:) (.*)$`)
)

// receiptOf reads what stands in the receipt, which is the most of a report.
func (p *reader) receiptOf(d *Data) {
	d.Target = p.target(p.need("- For: "))
	m := p.match(roundFact)
	d.Round, d.Rounds = p.int(m[0]), p.int(m[1])
	if m := outcomeFact.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		d.Outcome, d.Reason = review.Outcome(m[1]), m[2]
	}
	if p.ahead("- Consensus: ") {
		p.verdict(d)
	}
	static := d.Receipt.Static
	d.Receipt = p.proof(static)
	d.Receipt.Static = static
	d.Course = p.course()
	if p.ahead("| No. |") {
		d.Receipt.Agents = p.agents()
	}
	if p.ahead("| Left out |") {
		for _, c := range p.table() {
			if len(c) != 3 {
				p.fail("a path, a reason, and whether it may go unread")
			}
			d.Receipt.LeftOut = append(d.Receipt.LeftOut, review.LeftOut{Path: unspan(c[0]), Reason: c[1], Excused: c[2] == yesNo(true)})
		}
	}
	if p.ahead("| | Dismissed |") {
		for _, c := range p.table() {
			d.Dismissed = append(d.Dismissed, p.dismissed(c, d.Target.Local() || links{d.Target, ""}.none()))
		}
	}
	if _, ok := p.take(dismissalNotes); ok {
		d.DismissalNotes = p.bullets()
	}
	d.Discussion = p.discussion()
	if _, ok := p.take("Notes:"); ok {
		d.Notes = p.bullets()
	}
	if _, ok := p.take("Warnings:"); ok {
		d.Receipt.Warnings = p.bullets()
	}
	p.need(closeDetails)
}

func (p *reader) dismissed(c []string, local bool) Dismissed {
	if len(c) != 7 {
		p.fail("7 cells for each finding that was dismissed")
	}
	var at Finding
	p.place(&at, c[2], local)
	f := Dismissed{Priority: review.Priority(c[0]), Title: c[1], File: at.File, Line: at.Line, Why: c[5]}
	if thread, ok := strings.CutPrefix(c[6], threadLink); ok {
		f.Thread = strings.TrimSuffix(thread, ")")
	} else {
		f.Said = unspan(c[6])
	}
	by, merged, ok := strings.Cut(c[3], mergedFact+"`")
	if f.By = unspan(by); ok {
		f.MergedBy = strings.TrimSuffix(merged, "`")
	}
	if c[4] != noEnd {
		f.Until = unspan(c[4])
	}
	return f
}

func (p *reader) proof(static bool) review.Receipt {
	var r review.Receipt
	whole, who := wholeLine, reviewersLine
	if static {
		whole, who = searchedLine, searchesLine
	}
	m := p.match(givenLine)
	r.FilesGiven, r.Files, r.HunksGiven, r.Hunks = p.int(m[0]), p.int(m[1]), p.int(m[2]), p.int(m[3])
	r.FilesReviewed = p.int(p.match(whole)[0])
	m = p.match(who)
	r.Complete, r.MinReviewers = p.int(m[0]), p.int(m[1])
	for _, f := range []struct {
		name string
		to   *string
	}{
		{"Head", &r.HeadSHA}, {"Merge base", &r.MergeBaseSHA}, {"Base", &r.BaseSHA}, {"Review id", &r.ReviewID},
		{"Prompts", &r.PromptVersion}, {"Context", &r.Status},
	} {
		*f.to = unspan(p.need("- " + f.name + ": "))
	}
	r.Isolation, _ = p.take("- Isolation: ")
	r.Config, _ = p.take("- Configuration: ")
	r.Calibration, _ = p.take("- Calibration: ")
	if rest, ok := p.take("- Masked: "); ok {
		n, _, _ := strings.Cut(rest, " ")
		r.Masked = p.int(n)
	}
	return r
}

func (p *reader) agents() []review.AgentReceipt {
	var agents []review.AgentReceipt
	for _, c := range p.table() {
		if len(c) != 13 {
			p.fail("13 cells for each agent")
		}
		agents = append(agents, p.agent(c))
	}
	for _, line := range p.remarks() {
		m := remarkLine.FindStringSubmatch(line)
		if m == nil {
			p.fail("a remark on an agent")
		}
		i := p.int(m[1]) - 1
		if i < 0 || i >= len(agents) {
			p.fail("the number of an agent")
		}
		if strings.HasPrefix(m[2], ",") {
			agents[i].Notes = append(agents[i].Notes, m[3])
		} else {
			agents[i].Reason = m[3]
		}
	}
	return agents
}

func (p *reader) remarks() []string {
	if !strings.HasPrefix(p.peek(), "- No. ") {
		return nil
	}
	return p.bullets()
}

func (p *reader) agent(c []string) review.AgentReceipt {
	a := review.AgentReceipt{
		Name: unspan(c[1]), Role: review.Role(unspan(c[2])), Kind: unspan(c[3]), Model: unspan(c[4]),
		State: review.AgentState(unspan(c[5])), Attempts: p.int(c[8]),
	}
	shown, of, some := strings.Cut(c[7], " of ")
	if a.Findings = p.int(shown); some {
		a.Omitted = p.int(of) - a.Findings
	}
	given := p.cell(givenCell, c[6])
	a.FilesGiven, a.HunksGiven = p.int(given[0]), p.int(given[1])
	a.Seconds = p.float(strings.TrimSuffix(c[9], " s"))
	calls := p.cell(callsCell, c[10])
	a.Usage.LLMCalls, a.Usage.ToolCalls = p.int(calls[0]), p.int(calls[1])
	if c[11] != unknown {
		figures := p.cell(tokensCell, c[11])
		for i, to := range []**int{&a.Usage.InputTokens, &a.Usage.CachedTokens, &a.Usage.OutputTokens} {
			if figures[i] != unknown {
				n := p.int(figures[i])
				*to = &n
			}
		}
	}
	if c[12] != unknown {
		usd := p.float(strings.TrimSuffix(c[12], " USD"))
		a.Usage.CostUSD = &usd
	}
	return a
}

func (p *reader) cell(re *lazyregexp.Regexp, s string) []string {
	m := re.FindStringSubmatch(s)
	if m == nil {
		p.fail("another cell than " + s)
	}
	return m[1:]
}

func (p *reader) float(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		p.fail("a number")
	}
	return f
}
