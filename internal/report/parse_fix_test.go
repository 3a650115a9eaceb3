package report

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// parseFix reads a fix report back, as strictly as parse. parseFix(RenderFix(d)) equals CanonicalFix(d).
func parseFix(text string) (d FixData, err error) {
	p := &reader{lines: strings.Split(text, "\n")}
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case *parseError:
			d, err = FixData{}, stop
		default:
			panic(stop)
		}
	}()
	d = p.fixReport()
	return d, nil
}

func (p *reader) fixReport() FixData {
	for strings.HasPrefix(p.peek(), "<!--") {
		p.at++
	}
	d := FixData{State: p.fixState(p.need(fixTitle))}
	m := p.match(roundLine)
	d.Round, d.Rounds, d.Target = p.int(m[0]), p.int(m[1]), p.target(m[2])
	d.Outcome, d.Reason = p.outcome()
	p.line() // the gist
	if _, ok := p.take(secTodo); ok {
		for strings.HasPrefix(p.peek(), "- ") {
			d.GitHubToken = d.GitHubToken || p.peek() == "- "+noCI
			p.at++
		}
	}
	d.Refusals = p.refusals()
	if _, ok := p.take(secTests); ok {
		d.Tests = p.bullets()
	}
	d.Fixed = p.fixed()
	d.Rejected, d.Missing = p.rejected(secRejected), p.rejected(secMissing)
	d.Noticed = p.noticed()
	d.Checks, d.PushedChecks = p.checks()
	d.Commits = p.commits()
	if _, ok := p.take(secPatch); ok {
		p.patch(&d)
	}
	if _, ok := p.take(secNotes); ok {
		d.Notes = p.bullets()
	}
	p.fixReceipt(&d)
	if p.peek() != "" {
		p.fail("the end")
	}
	return d
}

func (p *reader) fixState(title string) FixState {
	for state, t := range fixTitles {
		if t == title {
			return state
		}
	}
	p.fail("what became of the fix")
	return ""
}

// outcome reads the line of a run that ended, and passes over the one that stands below it for a stuck run.
func (p *reader) outcome() (o review.Outcome, reason string) {
	if m := outcomeLine.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		o, reason = review.Outcome(m[1]), m[2]
	}
	if saysManual(o, reason) {
		p.need(manual)
	}
	return o, reason
}

var refusalLine = lazyregexp.New("^- (`[^`]*`|none)(?: in (`[^`]*`))?:(?: (.*))?$")

func (p *reader) refusals() []review.Refusal {
	if _, ok := p.take(secRefused); !ok {
		return nil
	}
	var out []review.Refusal
	for strings.HasPrefix(p.peek(), "- ") {
		m := p.match(refusalLine)
		out = append(out, review.Refusal{Rule: unspan(m[0]), Path: unspan(m[1]), Detail: m[2]})
	}
	return out
}

var (
	fixedLine    = lazyregexp.New("^- (`[^`]*`|none) ([^·]*?)(?: · (\\[`[0-9a-f]{12}`\\]\\([^()]*\\)|`[0-9a-f]*`))?$")
	rejectedLine = lazyregexp.New("^- (`[^`]*`|none) (.*)$")
)

func (p *reader) fixed() []FixedItem {
	if _, ok := p.take(secFixed); !ok {
		return nil
	}
	var out []FixedItem
	for strings.HasPrefix(p.peek(), "- ") {
		m := p.match(fixedLine)
		f := FixedItem{ID: unspan(m[0]), Title: m[1]}
		if m[2] != "" {
			f.Commit = p.commit(m[2])
		}
		f.Text, _ = p.take(strings.TrimPrefix(moreDone, "\n"))
		f.Tests, _ = p.take(strings.TrimPrefix(moreTests, "\n"))
		f.Risk, _ = p.take(strings.TrimPrefix(moreRisk, "\n"))
		out = append(out, f)
	}
	return out
}

var noticedLine = lazyregexp.New("^- (`[^`]*`|none)(?: line (\\d+))?: (.*)$")

func (p *reader) noticed() []NoticedItem {
	if _, ok := p.take(secNoticed); !ok {
		return nil
	}
	p.need(notCounted)
	var out []NoticedItem
	for strings.HasPrefix(p.peek(), "- ") {
		m := p.match(noticedLine)
		n := NoticedItem{File: unspan(m[0]), Text: m[2]}
		if m[1] != "" {
			n.Line = p.int(m[1])
		}
		out = append(out, n)
	}
	return out
}

func (p *reader) rejected(heading string) []RejectedItem {
	if p.peek() != heading {
		return nil
	}
	p.line()
	var out []RejectedItem
	for strings.HasPrefix(p.peek(), "- ") {
		m := p.match(rejectedLine)
		r := RejectedItem{ID: unspan(m[0]), Title: m[1]}
		r.Reason, _ = p.take(strings.TrimPrefix(moreReason, "\n"))
		out = append(out, r)
	}
	return out
}

var (
	checkItem  = lazyregexp.New("^- (`[^`]*`|none) \\*{0,2}([a-z]+)\\*{0,2}(?:, exit (-?\\d+))?, ([0-9.]+) s(, log \\d+)?$")
	logSummary = lazyregexp.New(`^<summary>The end of log \d+</summary>$`)
)

func (p *reader) checks() (fix, pushed []review.Check) {
	if _, ok := p.take(secChecks); !ok {
		return nil, nil
	}
	var logged []*review.Check
	list := func(on string) (out []review.Check) {
		if _, ok := p.take(on); !ok {
			return nil
		}
		var has []int
		for strings.HasPrefix(p.peek(), "- ") {
			m := p.match(checkItem)
			c := review.Check{Command: unspan(m[0]), State: review.CheckState(m[1]), Seconds: p.float(m[3])}
			if m[2] != "" {
				c.ExitCode = p.int(m[2])
			}
			if m[4] != "" {
				has = append(has, len(out))
			}
			out = append(out, c)
		}
		for _, i := range has {
			logged = append(logged, &out[i])
		}
		return out
	}
	fix, pushed = list(onFix), list(onPushed)
	for _, c := range logged {
		p.need(openDetails)
		p.match(logSummary)
		_, c.Log = p.fenced()
		p.need(closeDetails)
	}
	return fix, pushed
}

var commitLine = lazyregexp.New("^- (?:(\\[`[0-9a-f]{12}`\\]\\([^()]*\\)|`[0-9a-f]{40,}`) · )?(.*)$")

func (p *reader) commits() []review.FixCommit {
	if _, ok := p.take(secCommits); !ok {
		return nil
	}
	var out []review.FixCommit
	for strings.HasPrefix(p.peek(), "- ") {
		m := p.match(commitLine)
		c := review.FixCommit{Message: m[1]}
		if m[0] != "" {
			c.SHA = p.commit(m[0])
		}
		out = append(out, c)
	}
	return out
}

var (
	touchedLine  = lazyregexp.New(`^- Touched: (\d+) files, (\d+) lines$`)
	deferredLine = lazyregexp.New(`^- Optional findings deferred: (\d+)$`)
	triesLine    = lazyregexp.New(`^- Tries: (\d+)$`)
)

func (p *reader) fixReceipt(d *FixData) {
	p.need(secReceipt)
	p.need(openDetails)
	p.need("<summary>")
	m := p.match(touchedLine)
	d.Files, d.Lines = p.int(m[0]), p.int(m[1])
	d.Deferred, d.Tries = p.int(p.match(deferredLine)[0]), p.int(p.match(triesLine)[0])
	d.Base, d.Head, d.NewerHead = unspan(p.need("- Reviewed head: ")), unspan(p.need("- Pushed head: ")), unspan(p.need("- Newer head: "))
	agents := p.agents()
	if len(agents) != 1 {
		p.fail("one fixer")
	}
	d.Agent = agents[0]
	p.need(closeDetails)
}
