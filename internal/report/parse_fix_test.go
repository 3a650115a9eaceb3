package report

import (
	"slices"
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
	var d FixData
	p.need(heading)
	p.line() // the gist
	for !p.ahead(nextStart, "### ", openDetails) {
		d.Remarks = append(d.Remarks, p.line())
	}
	if rest, ok := p.take(nextStart); ok {
		steps := []string{strings.TrimSpace(rest)}
		if rest == "" {
			steps = p.bullets()
		}
		d.GitHubToken = slices.Contains(steps, noCI)
	}
	d.Refusals = p.refusals()
	if _, ok := p.take(secTests); ok {
		d.Tests = p.bullets()
	}
	d.Fixed = p.fixed()
	d.Rejected, d.Missing = p.rejected(secRejected), p.rejected(secMissing)
	if _, ok := p.take(secChecks); ok {
		d.Checks, d.PushedChecks = p.checks()
	}
	if _, ok := p.take(secPatch); ok {
		p.patch(&d)
	}
	d.Noticed = p.noticed()
	p.fixReceipt(&d)
	if p.peek() != "" {
		p.fail("the end")
	}
	return d
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

var itemLine = lazyregexp.New("^(?:\\*\\*(P[0-3])\\*\\* )?([^·]*?)(?: · (\\[`[^`]*`\\]\\([^()]*(?:\\([^()]*\\)[^()]*)*\\)|`[^`]*`(?: line \\d+)?))?$")

// item reads what a list says of a finding.
func (p *reader) item(s string) (i Item) {
	m := itemLine.FindStringSubmatch(s)
	if m == nil {
		p.fail("an item")
	}
	i.Priority, i.Title = review.Priority(m[1]), m[2]
	if m[3] != "" {
		var f Finding
		p.place(&f, m[3], !strings.HasPrefix(m[3], "["))
		i.File, i.Line = f.File, f.Line
	}
	return i
}

func (p *reader) fixed() []FixedItem {
	if _, ok := p.take(secFixed); !ok {
		return nil
	}
	var out []FixedItem
	for strings.HasPrefix(p.peek(), "- ") {
		line, commit, ok := strings.Cut(p.need("- "), fixedIn)
		f := FixedItem{Item: p.item(line)}
		if ok {
			f.Commit = p.commit(commit)
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
	if p.peek() != openDetails || !strings.HasPrefix(p.lines[p.at+1], "<summary>"+sumNoticed) {
		return nil
	}
	p.at += 2
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
	p.need(closeDetails)
	return out
}

func (p *reader) rejected(heading string) []RejectedItem {
	if p.peek() != heading {
		return nil
	}
	p.line()
	var out []RejectedItem
	for strings.HasPrefix(p.peek(), "- ") {
		r := RejectedItem{Item: p.item(p.need("- "))}
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
	if _, ok := p.take(commitsName); !ok {
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
	p.need(openDetails)
	p.need("<summary>" + sumReceipt)
	d.Target = p.target(p.need("- For: "))
	round := p.match(roundFact)
	d.Round, d.Rounds = p.int(round[0]), p.int(round[1])
	d.State = FixState(unspan(p.need("- State: ")))
	if m := outcomeFact.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		d.Outcome, d.Reason = review.Outcome(m[1]), m[2]
	}
	m := p.match(touchedLine)
	d.Files, d.Lines = p.int(m[0]), p.int(m[1])
	d.Deferred, d.Tries = p.int(p.match(deferredLine)[0]), p.int(p.match(triesLine)[0])
	d.Base, d.Head, d.NewerHead = unspan(p.need("- Reviewed head: ")), unspan(p.need("- Pushed head: ")), unspan(p.need("- Newer head: "))
	if p.ahead(onFix, onPushed) {
		d.Checks, d.PushedChecks = p.checks()
	}
	d.Commits = p.commits()
	agents := p.agents()
	if len(agents) != 1 {
		p.fail("one fixer")
	}
	d.Agent = agents[0]
	if _, ok := p.take("Notes:"); ok {
		d.Notes = p.bullets()
	}
	p.need(closeDetails)
}
