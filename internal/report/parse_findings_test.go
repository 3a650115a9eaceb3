package report

import (
	"net/url"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// run reads findings one after the other; of open ones what is long is folded.
func (p *reader) run(open bool) []Finding {
	var list []Finding
	for p.ahead(findingStart) {
		list = append(list, p.finding(open))
	}
	return list
}

func (p *reader) finding(open bool) Finding {
	priority, title, ok := strings.Cut(p.need(findingStart), ": ")
	f := Finding{Title: title, Priority: review.Priority(priority)}
	facts := strings.Split(p.line(), separator)
	if !ok || !f.Priority.Valid() || len(facts) < 2 {
		p.fail("priority, place and category")
	}
	p.place(&f, facts[0], !strings.HasPrefix(facts[0], "["))
	f.Category = unspan(facts[1])
	evidence := true
	for _, fact := range facts[2:] {
		switch {
		case strings.HasPrefix(fact, "found by "):
			f.By = unspans(fact)
		case strings.HasPrefix(fact, causeFact):
			f.Cause = unspan(fact)
			if m := commitText.FindStringSubmatch(strings.TrimPrefix(fact, causeFact)); m != nil {
				f.Cause = m[1] + m[2]
			}
		case strings.HasPrefix(fact, "id "):
			f.ID = unspan(fact)
		case strings.HasPrefix(fact, identityFact):
			f.Identity = unspan(fact)
		case fact == confirmFact:
			f.Confirmed = true
		case fact == lookFact:
			f.Look = true
		case fact == waitsFact:
			f.Waits = true
		case fact == noEvidence:
			evidence = false
		case strings.HasPrefix(fact, raisedFact):
			m := raisedScore.FindStringSubmatch(fact)
			f.OriginalScore, f.Score = p.int(m[1]), p.int(m[2])
		default:
			p.fail("a fact that is known")
		}
	}
	f.Reason, _ = p.take(labelReason)
	texts := p.texts(evidence)
	if evidence {
		f.Language, f.Evidence = p.fenced()
	}
	f.Suggestions = p.suggestions()
	if open && p.peek() == openDetails && p.lines[p.at+1] == "<summary>"+sumMore+"</summary>" {
		p.at += 2
		texts = append(texts, p.texts(false)...)
		f.Suggestions = append(f.Suggestions, p.suggestions()...)
		p.need(closeDetails)
	}
	f.Description = strings.Join(texts, "\n\n")
	for p.ahead("**Also (") {
		f.Also = append(f.Also, p.also(open))
	}
	return f
}

func (p *reader) also(open bool) Wording {
	m := p.match(alsoLead)
	w := Wording{By: m[0], Priority: review.Priority(m[1]), Category: m[2], Title: m[3]}
	if open && p.peek() == openDetails && p.lines[p.at+1] == "<summary>"+sumAlso+"</summary>" {
		p.at += 2
		w.Description = strings.Join(p.texts(false), "\n\n")
		p.need(closeDetails)
		return w
	}
	w.Description = strings.Join(p.texts(false), "\n\n")
	return w
}

var (
	raisedScore = lazyregexp.New(`from (\d+) to (\d+)$`)
	alsoLead    = lazyregexp.New("^\\*\\*Also \\(`([^`]*)`, (P[0-3])(?:, `([^`]*)`)?\\):\\*\\* (.*)$")
	fixLead     = lazyregexp.New("^\\*\\*Fix(?: \\((`[^`]*`)\\))?:\\*\\*(?: (.*))?$")
)

// texts reads paragraphs and quotes up to what may follow them.
func (p *reader) texts(evidence bool) []string {
	var out []string
	for {
		switch {
		case p.ahead(">"):
			out = append(out, p.paragraph())
		case p.peek() == "" || p.ahead("**Fix", "**Also (", findingStart, openDetails, closeDetails) || evidence && p.ahead("```"):
			return out
		default:
			out = append(out, p.line())
		}
	}
}

func (p *reader) suggestions() []Suggestion {
	var out []Suggestion
	for p.ahead("**Fix") {
		m := p.match(fixLead)
		s := Suggestion{By: unspan(m[0]), Text: m[1]}
		if s.Text == "" {
			p.peek()
			s.Text = p.quoted()
		}
		out = append(out, s)
	}
	return out
}

// gone reads the list of what was not found again.
func (p *reader) gone() []Gone {
	var out []Gone
	for _, line := range p.bullets() {
		priority, rest, ok := strings.Cut(strings.TrimPrefix(line, "**"), "** ")
		if !ok {
			p.fail("a priority")
		}
		title, how, _ := strings.Cut(rest, separator)
		g := Gone{Priority: review.Priority(priority), Title: title, Fixed: how != ""}
		if commit, ok := strings.CutPrefix(how, "fixed in "); ok {
			g.Commit = p.commit(commit)
		}
		out = append(out, g)
	}
	p.need(closeDetails)
	return out
}

var (
	linkedPlace = lazyregexp.New("^\\[`[^`]*`\\]\\(https://[^/]*/[^/]*/[^/]*/blob/[^/]*/([^#)]*)(?:#L(\\d+)(?:-L(\\d+))?)?\\)$")
	plainPlace  = lazyregexp.New("^`([^`]*)`(?: line (\\d+)(?:-(\\d+))?)?$")
)

func (p *reader) place(f *Finding, s string, local bool) {
	if s == "no file" {
		return
	}
	re := linkedPlace
	if local {
		re = plainPlace
	}
	m := re.FindStringSubmatch(s)
	if m == nil {
		p.fail("a place")
	}
	if f.File = m[1]; !local {
		name, err := url.PathUnescape(m[1])
		if err != nil {
			p.fail("an escaped path")
		}
		f.File = spelling.Name(name)
	}
	if m[2] != "" {
		f.Line = p.int(m[2])
	}
	if m[3] != "" {
		f.LineEnd = p.int(m[3])
	}
}

// paragraph reads one in a quote, which is its own where the text needed none.
func (p *reader) paragraph() string {
	text := p.quoted()
	if !bounded(text) {
		text = quote(text)
	}
	return text
}

func (p *reader) quoted() string {
	if !strings.HasPrefix(p.peek(), ">") {
		return ""
	}
	var lines []string
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], ">") {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(p.lines[p.at], ">"), " "))
		p.at++
	}
	return strings.Join(lines, "\n")
}

func (p *reader) fenced() (lang, text string) {
	open := p.line()
	lang = strings.TrimLeft(open, "`")
	bar := open[:len(open)-len(lang)]
	if len(bar) < 3 {
		p.fail("a fence")
	}
	start := p.at
	for ; p.at < len(p.lines); p.at++ {
		if p.lines[p.at] == bar {
			text = strings.Join(p.lines[start:p.at], "\n")
			p.at++
			return lang, text
		}
	}
	p.fail("the end of a fence")
	return "", ""
}
