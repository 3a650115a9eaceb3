package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/internal/runnerlog"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// tight is the narrowest that sentences are wrapped for.
const tight = 16

// unbounded is a width that no line has.
const unbounded = 1 << 20

var outcomes = map[review.Outcome]string{
	review.Converged: "approved", review.StaticOnly: "rules only (no model took part)",
	review.ChangesRequested: "changes requested", review.SetAside: "a person is needed", review.Stuck: "stuck: a person is needed",
	review.Diverging: "diverging: a person is needed", review.Budget: "out of budget", review.Partial: "partly reviewed",
	review.NotReviewed: "not reviewed", review.Superseded: "superseded", review.Failed: "failed", review.Answered: "answered",
	review.LGTM: "quick scan: looks good", review.Flagged: "quick scan: flagged",
	review.Opened: "pull request opened", review.Updated: "pull request updated", review.NothingToDo: "nothing to do", review.Refused: "refused: a person is needed",
	"nothing": "nothing to do", // what servers were asked for and need not do
}

// Words say in a few words how a run ended. Rules alone have one outcome whether they found something to fix or not, which the consensus tells.
func Words(o review.Outcome, consensus *string) string {
	switch {
	case o == review.StaticOnly && consensus != nil:
		return "static findings (no model took part)"
	case o == review.StaticOnly:
		return "no static findings (no model took part)"
	}
	return Kind(o)
}

// Kind says what all that have an outcome share, whatever their consensus.
func Kind(o review.Outcome) string {
	if words, known := outcomes[o]; known {
		return words
	}
	return line(string(o))
}

// Summary writes the end of a run for people: verdict, findings, agents, and where the report is. A width of 0 wraps and cuts nothing,
// for output that is searched or read by a program.
func Summary(w io.Writer, r review.RunResult, width int, color bool) {
	c, plain := palette(color), width == 0
	arranged := min(max(width, narrowest), widest)
	if width = min(max(width, tight), widest); plain {
		width, arranged = unbounded, unbounded
	}
	var b strings.Builder
	verdict := Words(r.Outcome, r.Consensus)
	of, between := line(r.Target.String()), " "
	if runewidth.StringWidth(of+": "+verdict) > width {
		of, verdict, between = Wrap(of, width-1, 0), Wrap(verdict, width, 2), "\n  "
	}
	fmt.Fprintf(&b, "\n%s:%s%s\n", c.bold(of), between, c.outcome(r.Outcome, verdict))
	if r.Receipt.Static && r.Outcome != review.StaticOnly {
		b.WriteString(wrapped("No model took part: static checks only.", width))
	}
	why, next := cause(r)
	if r.Reason != "" {
		text := line(r.Reason)
		if why != "" {
			text += ": " + line(sanitize.Redact(strings.TrimSuffix(why, "; try: "+next)))
		}
		b.WriteString(wrapped(text, width))
	}
	if next != "" {
		b.WriteString(wrapped("try: "+line(sanitize.Redact(next))+", then: "+line(r.Target.Again()), width))
	}
	if r.Again != "" {
		b.WriteString(wrapped("already reviewed at this commit, in run "+line(r.Again)+": nobody was asked, and nothing is posted; --force reviews it anew", width))
	}
	if text := report.Unread(r.Receipt.LeftOut); text != "" {
		b.WriteString(wrapped(c.paint("33", "not reviewed:")+" "+named(text), width))
	}
	if text := report.Excused(r.Receipt.LeftOut); text != "" {
		b.WriteString(wrapped("left out by rule: "+named(text), width))
	}
	if text := report.Around(r.Receipt); text != "" {
		b.WriteString(wrapped(text, width))
	}
	if text := report.ByHand(r.Outcome, r.Receipt); text != "" && (r.Outcome == review.Partial || r.Outcome == review.NotReviewed) {
		b.WriteString(wrapped(named(text), width))
	}
	rounds(&b, r, arranged, c)
	scan(&b, r, width)
	list(&b, r, width, c)
	b.WriteString("\n")
	all, rounds := inAll(tookPart(r))
	for i, a := range all {
		if why != "" && a.Whole() == why { // it stands above
			a.Reason, a.Detail = "", ""
		}
		b.WriteString(receipt(a, rounds[i], arranged, c))
	}
	names := reports(r)
	wide := 9
	for _, name := range names {
		wide = min(max(wide, runewidth.StringWidth(name)), 24)
	}
	for i, name := range names {
		if r.Target.Job != "" {
			name = "pull"
		}
		fmt.Fprintf(&b, "  %s  %s\n", fill(name, wide), line(r.Comments[i]))
	}
	if len(r.Comments) == 0 && r.Artifacts != "" {
		fmt.Fprintf(&b, "  report     prloop show %s\n", line(r.Run))
	}
	if r.Artifacts != "" {
		fmt.Fprintf(&b, "  artifacts  %s\n", line(r.Artifacts))
	}
	fmt.Fprintf(&b, "  run        %s\n  in all     %s%s\n", line(r.Run), clock(time.Duration(r.Seconds*float64(time.Second))), spent(r))
	_, _ = io.WriteString(w, runnerlog.Inert(b.String())) // a closed terminal must not change the run's outcome
}

// cause is why reviewers gave no complete answer where too few did, and what the operator may do next: empty where it is not the same for all of them, and
// where the run has no reason that it explains.
func cause(r review.RunResult) (why, next string) {
	if r.Reason == "" || r.Outcome != review.NotReviewed && r.Outcome != review.Partial || r.Receipt.Complete >= r.Receipt.MinReviewers {
		return "", ""
	}
	first := true
	for _, a := range r.Receipt.Agents {
		if a.Role != review.RoleReviewer || a.Kind == review.KindStatic && !r.Receipt.Static || a.State == review.AgentComplete {
			continue
		}
		if !first && a.Whole() != why {
			return "", ""
		}
		first, why, next = false, a.Whole(), a.Next
	}
	return why, next
}

// named is a sentence of a report with names of files as a terminal shows them.
func named(s string) string { return line(sanitize.Redact(strings.ReplaceAll(s, "`", ""))) }

// reports names what was posted, in order: the review or the fix of a round. A fix is reported after the review of its round,
// and whatever follows is the next one's. A single review is simply the report.
func reports(r review.RunResult) []string {
	fixes := map[string]int{}
	for _, x := range r.Rounds {
		if x.Fix != nil {
			for _, url := range x.Fix.URLs {
				fixes[url] = x.Round
			}
		}
	}
	answers := map[string]string{}
	for _, a := range r.Answers {
		answers[a.URL] = a.Command
	}
	names := make([]string, len(r.Comments))
	round := 1
	for i, url := range r.Comments {
		switch fix, is := fixes[url]; {
		case answers[url] != "":
			names[i] = "!" + line(answers[url])
		case is:
			names[i] = fmt.Sprintf("fix %d", fix)
			round = fix + 1
		case len(fixes) == 0:
			names[i] = "report"
		default:
			names[i] = fmt.Sprintf("review %d", round)
		}
	}
	return names
}

// rounds lists how the run went, when there is more to tell than one review.
func rounds(b *strings.Builder, r review.RunResult, width int, c palette) {
	if len(r.Rounds) < 2 && (len(r.Rounds) == 0 || r.Rounds[0].Fix == nil) {
		return
	}
	b.WriteString("\n")
	for _, x := range r.Rounds {
		b.WriteString("  " + cut(course(x), width-3) + "\n")
		if x.Fix == nil || x.Fix.State == review.FixPushed || x.Fix.Reason == "" {
			continue
		}
		b.WriteString("    " + c.dim(cut(line(sanitize.Redact(x.Fix.Reason)), width-5)) + "\n")
	}
}

// scan lists why the scout said what it did, and what it noticed, when its scan is all there is.
func scan(b *strings.Builder, r review.RunResult, width int) {
	if r.Scan == nil || r.Scan.Escalated != "" {
		return
	}
	for _, reason := range r.Scan.Reasons {
		b.WriteString(wrapped(line(sanitize.Redact(reason)), width))
	}
	if len(r.Scan.Observations) > 0 {
		b.WriteString("\n")
	}
	for _, o := range r.Scan.Observations {
		said := o.Tag + ": " + o.Text
		if o.File != "" {
			place := o.File
			if o.Line != nil {
				place += fmt.Sprintf(":%d", *o.Line)
			}
			said = place + " " + said
		}
		b.WriteString(wrapped(line(sanitize.Redact(said)), width))
	}
}

// inAll is one receipt for each agent of a run, with what it came to in as many rounds as it took part in. How it ended is how it did last.
func inAll(turns []review.AgentReceipt) (all []review.AgentReceipt, rounds []int) {
	for i, a := range turns {
		same := func(other review.AgentReceipt) bool { return other.Name == a.Name && other.Role == a.Role }
		if a.Name == "" || slices.ContainsFunc(turns[:i], same) { // a fix may have come to nothing before anybody was asked
			continue
		}
		var sums agent
		n, found, took := 0, 0, 0.0
		var own []review.AgentReceipt
		for _, turn := range turns {
			if same(turn) {
				a, n, found, took = turn, n+1, found+turn.Findings, took+turn.Seconds
				own = append(own, turn)
				sums.spend(turn.Usage)
			}
		}
		a.Findings, a.Seconds = found, took
		a.Usage = review.Usage{InputTokens: sums.tokens}
		if bill := review.BillOf(own...); bill.Known && !bill.Unknown {
			a.Usage.CostUSD = &bill.USD
		}
		all, rounds = append(all, a), append(rounds, n)
	}
	return all, rounds
}

func receipt(a review.AgentReceipt, rounds, width int, c palette) string {
	total := a.Usage.InputTokens
	if a.Usage.OutputTokens != nil {
		total = sum(total, *a.Usage.OutputTokens)
	}
	did := findings(a.Findings)
	switch a.Role {
	case review.RoleFixer:
		did = "fixer"
	case review.RoleVerifier:
		did += " looked at"
	case review.RoleScout:
		did = "quick scan"
	case review.RoleFinder:
		did = "looked for context"
	}
	text, cost := fmt.Sprintf("%s  %s  %6s  %s", fill(line(a.Name), 18), fill(string(a.State), 8), clock(seconds(a.Seconds)), did), ""
	if total != nil && *total > 0 {
		cost += ", " + tokens(total)
	}
	if a.Usage.CostUSD != nil && (total == nil || *total > 0) { // what asks no model is not worth a price
		cost += ", " + money(a.Usage.CostUSD)
	}
	if in := fmt.Sprintf(" in %d rounds", rounds); rounds > 1 && runewidth.StringWidth(text+in+cost) <= width-3 {
		text += in
	}
	text += cost
	below := ""
	if reason := line(sanitize.Redact(a.Whole())); reason != "" {
		if whole := text + ": " + reason; runewidth.StringWidth(whole) <= width-3 {
			text = whole
		} else { // why an agent failed is not cut: it is what there is to do something about
			for l := range strings.Lines(wrapped(reason, width-4)) {
				below += "    " + l
			}
		}
	}
	return "  " + c.state(a.State, cut(text, width-3)) + "\n" + below
}

// spent is what all rounds and fixes of a run took together.
func spent(r review.RunResult) string {
	var sums agent
	all := tookPart(r)
	for _, a := range all {
		sums.spend(a.Usage)
	}
	if sums.tokens == nil || *sums.tokens == 0 {
		return ""
	}
	text := ", " + tokens(sums.tokens)
	switch bill := review.BillOf(all...); {
	case bill.Unknown && bill.USD > 0:
		return text + ", more than " + money(&bill.USD)
	case bill.Unknown && len(bill.Unpriced) > 0:
		return text + ", cost unknown (no price for " + line(strings.Join(bill.Unpriced, ", ")) + ")"
	case bill.Known && !bill.Unknown:
		return text + ", " + money(&bill.USD)
	}
	return text
}

// tookPart are the agents of all rounds of a run, and behind them those of its fixes.
func tookPart(r review.RunResult) (all []review.AgentReceipt) {
	var fixes []review.AgentReceipt
	for _, x := range r.Rounds {
		all = append(all, x.Agents...)
		if x.Fix != nil {
			fixes = append(fixes, x.Fix.Agent)
		}
	}
	all = append(all, fixes...)
	if all == nil {
		return r.Receipt.Agents
	}
	return all
}

// Untold writes why a run failed and why agents of it are not complete, where its reports do not say all of it (threats.md T681, T743).
func Untold(w io.Writer, r review.RunResult) {
	if r.Outcome == review.Failed && r.Reason != "" {
		fmt.Fprintf(w, "it failed: %s\n", runnerlog.Inert(line(sanitize.Redact(r.Reason))))
	}
	for _, a := range tookPart(r) {
		if a.Detail != "" {
			fmt.Fprintf(w, "%s is not complete: %s\n", line(a.Name), runnerlog.Inert(line(sanitize.Redact(a.Detail))))
		}
	}
}

func findings(n int) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

// wrapped breaks a text at words, indented by two.
func wrapped(s string, width int) string { return "  " + Wrap(s, width-1, 2) + "\n" }

// columns is how wide a text is without the marks of colors in it.
func columns(s string) int {
	n := 0
	for i, part := range strings.Split(s, "\x1b[") {
		if _, after, mark := strings.Cut(part, "m"); i > 0 && mark {
			part = after
		}
		n += runewidth.StringWidth(part)
	}
	return n
}

// Wrap breaks a text at blanks so that, with an indent before each line but the first, which stands behind as much, it has at
// most width columns; a longer word stands alone. Where the indent leaves hardly any room, the other lines are indented by two.
func Wrap(s string, width, indent int) string {
	var b strings.Builder
	column := indent
	if 3*width < 5*indent {
		indent = min(indent, 2)
	}
	for i, word := range strings.Fields(s) {
		n := columns(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
