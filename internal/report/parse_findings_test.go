package report

import (
	"net/url"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// findings reads the open findings and, if there are more, the collapsed ones.
func (p *reader) findings(local bool) []Finding {
	list := p.run(local)
	for i := range list {
		list[i].Open = true
	}
	if p.peek() == openDetails {
		list = append(list, p.details(local)...)
	}
	return list
}

func (p *reader) list(heading string, local bool) []Finding {
	if p.peek() != heading {
		return nil
	}
	p.line()
	p.line() // the sentence
	return p.details(local)
}

func (p *reader) details(local bool) []Finding {
	p.need(openDetails)
	p.need("<summary>")
	list := p.run(local)
	p.need(closeDetails)
	return list
}

// run reads findings one after the other, passing over the headings of priorities, which the findings repeat.
func (p *reader) run(local bool) []Finding {
	var list []Finding
	for {
		switch next := p.peek(); {
		case strings.HasPrefix(next, "### "):
			p.at++
		case strings.HasPrefix(next, "#### "):
			list = append(list, p.finding(local))
		default:
			return list
		}
	}
}

func (p *reader) finding(local bool) Finding {
	f := Finding{Title: p.need("#### ")}
	facts := strings.Split(p.line(), separator)
	if len(facts) < 3 {
		p.fail("priority, category and place")
	}
	f.Priority = review.Priority(strings.Trim(facts[0], "*"))
	if !f.Priority.Valid() {
		p.fail("a priority")
	}
	f.Category = unspan(facts[1])
	p.place(&f, facts[2], local)
	for _, fact := range facts[3:] {
		switch {
		case strings.HasPrefix(fact, "by "):
			f.By = unspans(fact)
		case strings.HasPrefix(fact, causeFact):
			f.Cause = unspan(fact)
			if m := commitText.FindStringSubmatch(strings.TrimPrefix(fact, causeFact)); m != nil {
				f.Cause = m[1] + m[2]
			}
		case strings.HasPrefix(fact, "id "):
			f.ID = unspan(fact)
		case fact == "evidence verified":
			f.Verified = true
		case fact == "confirmed by the verifier":
			f.Confirmed = true
		case fact == lookFact:
			f.Look = true
		case fact == "no evidence":
		default:
			p.fail("a fact that is known")
		}
	}
	f.Reason, _ = p.take(labelReason)
	f.Description = p.quoted()
	if p.peek() == labelSuggest {
		p.line()
		f.Suggestion = p.quoted()
	}
	if p.peek() == labelEvidence {
		p.line()
		f.Language, f.Evidence = p.fenced()
	}
	return f
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
