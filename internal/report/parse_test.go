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
	roundLine   = lazyregexp.New(`^Round (\d+) of (\d+) for (.*)\.$`)
	pullTarget  = lazyregexp.New("^\\[`[^`]*`\\]\\(https://([^/]*)/([^/]*)/([^/]*)/pull/(\\d+)\\)$")
	plainPull   = lazyregexp.New(`^pull request (\d+)$`)
	outcomeLine = lazyregexp.New("^\\*\\*Outcome: `([^`]*)`\\*\\*(?: · (.*))?$")
	verdictLine = lazyregexp.New("^\\*\\*Consensus: (`[^`]*`|none)\\*\\*$")
	ruleLine    = lazyregexp.New(`^- Rule (-?\d+) (?:decides|matches too): ?(.*)$`)
)

func (p *reader) report() Data {
	for strings.HasPrefix(p.peek(), "<!--") {
		p.at++
	}
	var d Data
	_, d.Receipt.Static = p.take(staticOnly)
	p.need("# Review: ")
	p.take(unreadStart)
	m := p.match(roundLine)
	d.Round, d.Rounds, d.Target = p.int(m[0]), p.int(m[1]), p.target(m[2])
	d.Outcome, d.Reason = p.outcome()
	p.take(lookStart)
	if strings.HasPrefix(p.peek(), "**Consensus: ") {
		d.Verdict = p.verdict()
	}
	p.need(secTodo)
	for strings.HasPrefix(p.peek(), "- ") {
		p.at++
	}
	if _, ok := p.take(givenStart); !ok {
		p.need(reviewedStart)
	}
	p.take(excusedStart)
	local := links{d.Target, ""}.none()
	if _, ok := p.take(secStuck); ok {
		p.need(stuckSentence)
		d.Stuck = p.run(local)
	}
	d.Diverging = p.diverging()
	if _, ok := p.take(secFindings); ok {
		d.Findings = p.findings(local)
	}
	d.Unverified = p.list(secUnverified, local)
	d.Course = p.course()
	if _, ok := p.take(secDiscussion); ok {
		d.Discussion = p.discussion()
	}
	if _, ok := p.take(secNotes); ok {
		d.Notes = p.bullets()
	}
	static := d.Receipt.Static
	d.Receipt = p.receipt()
	d.Receipt.Static = static
	if p.peek() != "" {
		p.fail("the end")
	}
	return d
}

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

func (p *reader) verdict() *review.Verdict {
	v := &review.Verdict{Consensus: review.Conclusion(unspan(p.match(verdictLine)[0]))}
	table := p.table()
	if len(table) != 1 || len(table[0]) != 7 {
		p.fail("one row of counts")
	}
	c := table[0]
	v.Issues = review.Counts{P0: p.int(c[1]), P1: p.int(c[2]), P2: p.int(c[3]), P3: p.int(c[4])}
	v.Distinct = p.int(c[6])
	for strings.HasPrefix(p.peek(), "- Rule ") {
		m := p.match(ruleLine)
		v.Rules, v.Reasons = append(v.Rules, p.int(m[0])), append(v.Reasons, m[1])
	}
	return v
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
	d := &Discussion{}
	if _, none := p.take(linesNoThreads); !none {
		m := p.match(threadsLine)
		d.Threads = review.ThreadStats{Total: p.int(m[0]), Resolved: p.int(m[1]), Unresolved: p.int(m[2])}
	}
	_, d.Truncated = p.take(linesTruncated)
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

var regionLine = lazyregexp.New("^\\*\\*(`[^`]*`|none)\\*\\* ?(.*)$")

func (p *reader) diverging() *Diverging {
	if _, ok := p.take(secDiverging); !ok {
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
	if _, ok := p.take(secRounds); !ok {
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

// unrow splits a table row; ok is false when the line is none.
func unrow(line string) (cells []string, ok bool) {
	inner, ok := strings.CutPrefix(line, "| ")
	if !ok {
		return nil, false
	}
	if inner, ok = strings.CutSuffix(inner, " |"); !ok {
		return nil, false
	}
	for _, c := range strings.Split(inner, " | ") {
		cells = append(cells, strings.ReplaceAll(c, `\|`, "|"))
	}
	return cells, true
}
