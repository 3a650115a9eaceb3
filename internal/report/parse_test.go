package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// parse reads a report back: a report keeps all that Canonical keeps. Comment lines in front (markers) are passed over; anything else Render would not have
// written is an error that names the line. parse(Render(d)) equals Canonical(d).
func parse(text string) (d Data, err error) {
	p := &reader{lines: strings.Split(text, "\n")}
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case *parseError:
			d, err = Data{}, stop
		default:
			panic(stop)
		}
	}()
	d = p.report()
	return d, nil
}

// parseError carries the reader out of nested calls; it never leaves parse as a panic.
type parseError struct {
	line int
	want string
}

func (e *parseError) Error() string {
	return fmt.Sprintf("read report: line %d: want %s", e.line, e.want)
}

// reader walks the lines of a report.
type reader struct {
	lines []string
	at    int
}

func (p *reader) fail(want string) { panic(&parseError{p.at + 1, want}) }

// peek is the next line that is not blank, without taking it; "" at the end.
func (p *reader) peek() string {
	for p.at < len(p.lines) && p.lines[p.at] == "" {
		p.at++
	}
	if p.at == len(p.lines) {
		return ""
	}
	return p.lines[p.at]
}

func (p *reader) line() string {
	l := p.peek()
	if l == "" {
		p.fail("more text")
	}
	p.at++
	return l
}

// take consumes the next line when it has the prefix, and returns the rest.
func (p *reader) take(prefix string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(p.peek(), prefix); !ok {
		return "", false
	}
	p.at++
	return rest, true
}

func (p *reader) need(prefix string) string {
	rest, ok := p.take(prefix)
	if !ok {
		p.fail(strconv.Quote(prefix))
	}
	return rest
}

// match takes a line that fits the pattern and returns its groups.
func (p *reader) match(re *lazyregexp.Regexp) []string {
	m := re.FindStringSubmatch(p.peek())
	if m == nil {
		p.fail("another line than " + strconv.Quote(p.peek()))
	}
	p.at++
	return m[1:]
}

func (p *reader) int(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		p.fail("a number, not " + strconv.Quote(s))
	}
	return n
}

var (
	roundFact   = lazyregexp.New(`^- Round: (\d+) of (\d+)$`)
	pullTarget  = lazyregexp.New("^\\[`[^`]*`\\]\\(https://([^/]*)/([^/]*)/([^/]*)/pull/(\\d+)\\)$")
	plainPull   = lazyregexp.New(`^pull request (\d+)$`)
	outcomeFact = lazyregexp.New("^- Outcome: `([^`]*)`(?: · (.*))?$")
	verdictFact = lazyregexp.New("^- Consensus: (`[^`]*`|none)$")
	raisedCount = lazyregexp.New(`^- Raised, which decides: (-?\d+) P0, (-?\d+) P1, (-?\d+) P2, (-?\d+) P3$`)
	distinctOf  = lazyregexp.New(`^- Distinct: (-?\d+) P0, (-?\d+) P1, (-?\d+) P2, (-?\d+) P3, (-?\d+) in all$`)
	ruleLine    = lazyregexp.New(`^- Rule (-?\d+) (?:decides|matches too): ?(.*)$`)
	sinceLine   = lazyregexp.New(`^\*\*Since round (\d+):\*\* (.*)\.$`)
	unaskedPart = lazyregexp.New(`(\d+) not looked at again`)
	doubtedPart = lazyregexp.New(`(\d+) not raised again`)
)

// report reads the beginning, which is made of facts that stand below, the details and the receipt. The table has to say of each
// finding that has to be fixed what its details say. Why is the one fact that is not read back.
func (p *reader) report() Data {
	for strings.HasPrefix(p.peek(), "<!--") {
		p.at++
	}
	var d Data
	d.Receipt.Static = strings.Contains(p.need(heading), noModel)
	if m := sinceLine.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		d.Since = &Since{Round: p.int(m[1])}
		if m := unaskedPart.FindStringSubmatch(m[2]); m != nil {
			d.Since.Unasked = p.int(m[1])
		}
		if m := doubtedPart.FindStringSubmatch(m[2]); m != nil {
			d.Since.Doubted = p.int(m[1])
		}
	}
	p.line() // why
	p.take(unreadStart)
	p.take(excusedStart)
	p.take(aroundStart)
	p.take("**Not all findings are shown:** ")
	for !p.ahead(lookStart, "|", divergingStart, nextStart, sectionStart, findingStart, openDetails) {
		d.Remarks = append(d.Remarks, p.line())
	}
	if _, ok := p.take(lookStart); ok {
		p.bullets()
	}
	var rows [][]string
	if p.ahead("|") {
		rows = p.table()
	}
	d.Diverging = p.diverging()
	if rest, ok := p.take(nextStart); ok && rest == "" {
		p.bullets()
	}
	d.Commands = p.sections()
	d.Findings = p.run(true)
	for i := range d.Findings {
		d.Findings[i].Must, d.Findings[i].Open = true, true
	}
	for {
		summary, list := p.fold()
		switch {
		case strings.HasPrefix(summary, sumMust):
			for i := range list {
				list[i].Must = true
			}
			d.Findings = append(d.Findings, list...)
		case strings.HasPrefix(summary, sumOptional):
			d.Findings = append(d.Findings, list...)
		case strings.HasPrefix(summary, sumAside):
			d.Unverified = list
		case strings.HasPrefix(summary, sumGone):
			d.Since.Gone = p.gone()
		case strings.HasPrefix(summary, sumReceipt):
			p.receiptOf(&d)
			p.tabled(&d, rows)
			if p.peek() != "" {
				p.fail("the end")
			}
			return d
		default:
			p.fail("a summary that is known, not " + summary)
		}
	}
}

// ahead reports whether the next line begins with one of these.
func (p *reader) ahead(prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(p.peek(), s) })
}

// fold opens details and, where they hold findings, reads them.
func (p *reader) fold() (summary string, list []Finding) {
	p.need(openDetails)
	summary = strings.TrimSuffix(p.need("<summary>"), "</summary>")
	if p.ahead(findingStart) {
		list = p.run(false)
		p.need(closeDetails)
	}
	return summary, list
}

// tabled holds the rows of the table against the findings, and takes from it what stands nowhere else.
func (p *reader) tabled(d *Data, rows [][]string) {
	l := links{d.Target, d.Receipt.HeadSHA}
	left, begun := make([]string, len(rows)), 0 // the places of each row that no finding has taken, and how many rows have lost one
	times := make([]int, len(rows))
	for i, cells := range rows {
		left[i] = cells[2]
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if !f.Must {
			continue
		}
		var cells []string
		for at, row := range rows[:min(begun+1, len(rows))] { // rows begin in the order of findings
			where := l.more(*f)
			if at == begun {
				where = l.brief(*f)
			}
			rest, ok := strings.CutPrefix(left[at], where)
			many := timesRow.FindStringSubmatch(row[1])
			if ok && row[0] == "**"+string(f.Priority)+"**" && (bare(row[1]) == bare(f.Title) && rest == "" || many != nil && bare(many[1]) == bare(f.Title)) {
				cells, left[at], begun = row, strings.TrimPrefix(rest, ", "), max(begun, at+1)
				times[at]++
				break
			}
		}
		if cells == nil {
			p.fail("a row that says what the details say: " + f.Title)
		}
		if d.Since != nil {
			last := cells[len(cells)-1]
			if f.Standing = Standing(last); strings.HasPrefix(last, "**came back**") {
				f.Stuck, f.Standing = true, Back
			}
		}
	}
	for i, rest := range left {
		if many := timesRow.FindStringSubmatch(rows[i][1]); rest != "" || times[i] > 1 && p.int(many[2]) != times[i] {
			p.fail("no more rows, and places in them, than findings: " + rows[i][1])
		}
	}
}

// timesRow is the title of a row for several findings.
var timesRow = lazyregexp.New(`^(.*) \(([0-9]+) times\)$`)

// bare is a text without escapes, of which a cell needs fewer than a line of its own.
func bare(s string) string { return strings.ReplaceAll(s, `\`, "") }

func (p *reader) target(s string) review.Target {
	if base, ok := strings.CutPrefix(s, "local changes since "); ok {
		return review.Target{Base: unspan(base)}
	}
	if m := plainPull.FindStringSubmatch(s); m != nil {
		return review.Target{PR: p.int(m[1])}
	}
	m := pullTarget.FindStringSubmatch(s)
	if m == nil {
		p.fail("a target")
	}
	return review.Target{PR: p.int(m[4]), Repo: review.Repo{Host: m[1], Owner: m[2], Name: m[3]}}
}

func (p *reader) verdict(d *Data) {
	v := &review.Verdict{Consensus: review.Conclusion(unspan(p.match(verdictFact)[0]))}
	c := p.match(raisedCount)
	v.Issues = review.Counts{P0: p.int(c[0]), P1: p.int(c[1]), P2: p.int(c[2]), P3: p.int(c[3])}
	c = p.match(distinctOf)
	d.Distinct = review.Counts{P0: p.int(c[0]), P1: p.int(c[1]), P2: p.int(c[2]), P3: p.int(c[3])}
	v.Distinct = p.int(c[4])
	for strings.HasPrefix(p.peek(), "- Rule ") {
		m := p.match(ruleLine)
		v.Rules, v.Reasons = append(v.Rules, p.int(m[0])), append(v.Reasons, m[1])
	}
	d.Verdict = v
}

// table reads a table with its two lines of header and returns the other rows.
func (p *reader) table() [][]string {
	var rows [][]string
	for strings.HasPrefix(p.peek(), "|") {
		cells, ok := unrow(p.line())
		if !ok {
			p.fail("a table row")
		}
		rows = append(rows, cells)
		if p.at < len(p.lines) && p.lines[p.at] == "" {
			break // a blank line ends a table
		}
	}
	if len(rows) < 2 {
		p.fail("a table")
	}
	return rows[2:]
}

func (p *reader) bullets() []string {
	var out []string
	for {
		text, ok := p.take("- ")
		if !ok {
			return out
		}
		out = append(out, text)
		if p.at < len(p.lines) && p.lines[p.at] == "" {
			return out // a blank line ends a list
		}
	}
}

var (
	threadsLine = lazyregexp.New(`^- Threads: (-?\d+), of these (-?\d+) resolved and (-?\d+) unresolved\.$`)
	askedLine   = lazyregexp.New("^- Changes requested by (`[^`]*`|none), association (`[^`]*`|none)\\.$")
	markerLine  = lazyregexp.New("^- A comment of `([^`]*)` carries the marker")
)

func (p *reader) discussion() *Discussion {
	if _, ok := p.take(discussed); !ok {
		return nil
	}
	d := &Discussion{}
	if m := threadsLine.FindStringSubmatch(p.peek()); m != nil {
		p.at++
		d.Threads = review.ThreadStats{Total: p.int(m[1]), Resolved: p.int(m[2]), Unresolved: p.int(m[3])}
	}
	_, d.Truncated = p.take("- " + threadsTruncated)
	for strings.HasPrefix(p.peek(), "- ") {
		if m := markerLine.FindStringSubmatch(p.peek()); m != nil {
			p.at++
			d.Impostors = append(d.Impostors, m[1])
			continue
		}
		m := p.match(askedLine)
		d.ChangesRequestedBy = append(d.ChangesRequestedBy, review.ChangesRequestedBy{Login: unspan(m[0]), Association: unspan(m[1])})
	}
	return d
}

// commitText reads what links.id wrote, given that the id was one that oid keeps.
var commitText = lazyregexp.New("^(?:\\[`[0-9a-f]{12}`\\]\\(https://[^/]*/[^/]*/[^/]*/commit/([0-9a-f]{40,64})\\)|`([0-9a-f]{40,64})`|none)$")

func (p *reader) commit(s string) string {
	m := commitText.FindStringSubmatch(s)
	if m == nil {
		p.fail("a commit")
	}
	return m[1] + m[2]
}

var regionLine = lazyregexp.New("^\\*\\*The fixes do not settle:\\*\\* (`[^`]*`|none) ?(.*)$")

func (p *reader) diverging() *Diverging {
	if !p.ahead(divergingStart) {
		return nil
	}
	m := p.match(regionLine)
	d := Diverging{Region: unspan(m[0]), Sentence: m[1]}
	if _, ok := p.take(revertOffer); ok {
		_, command := p.fenced()
		d.Commits = strings.Fields(strings.TrimPrefix(command, revertPrefix))
		slices.Reverse(d.Commits)
	}
	return &d
}

func (p *reader) course() []RoundLine {
	if !p.ahead("| Round |") {
		return nil
	}
	var out []RoundLine
	for _, c := range p.table() {
		if len(c) != 10 {
			p.fail("10 cells for each round")
		}
		r := RoundLine{Round: p.int(c[0]), Head: p.commit(c[1]), Consensus: review.Conclusion(unspan(c[2]))}
		for i, to := range []*int{&r.P0, &r.P1, &r.P2, &r.P3, &r.Fixed, &r.Rejected, &r.Stuck} {
			*to = p.int(c[3+i])
		}
		out = append(out, r)
	}
	return out
}

// unspan gives the word of the first code span.
func unspan(s string) string {
	if m := spanText.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

var spanText = lazyregexp.New("`([^`]*)`")

func unspans(s string) []string {
	var out []string
	for _, m := range spanText.FindAllStringSubmatch(s, -1) {
		out = append(out, m[1])
	}
	return out
}

// unrow splits a table row at its pipes that are not escaped; ok is false when the line is none.
func unrow(line string) (cells []string, ok bool) {
	if len(line) < 3 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil, false
	}
	from, slashes := 1, 0
	for i := 1; i < len(line); i++ {
		if line[i] == '|' && slashes%2 == 0 {
			cells = append(cells, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
		if slashes++; line[i] != '\\' {
			slashes = 0
		}
	}
	return cells, true
}
