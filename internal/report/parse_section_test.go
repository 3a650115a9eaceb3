package report

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

var foundFact = lazyregexp.New(`^(\d+) findings?(, counted above)?$`)

// sections reads the answers of commands.
func (p *reader) sections() (out []Section) {
	for p.ahead(sectionStart) {
		s := Section{Title: p.need(sectionStart)}
		facts := strings.Split(p.line(), separator)
		s.ID = unspan(strings.TrimPrefix(facts[0], "command "))
		if m := foundFact.FindStringSubmatch(facts[1]); m != nil {
			s.Found, s.Counts = p.int(m[1]), m[2] != ""
		}
		if len(facts) > 2 {
			s.Confidence = review.Confidence(strings.TrimPrefix(facts[2], "confidence "))
		}
		s.Reason, _ = p.take(incomplete)
		s.Summary = strings.Join(p.sectionTexts(), "\n\n")
		if !s.Counts && s.Found > 0 {
			summary, list := p.fold()
			if !strings.HasPrefix(summary, sumListed) {
				p.fail("the findings of the section")
			}
			s.Listed = list
		}
		out = append(out, s)
	}
	return out
}

func (p *reader) sectionTexts() (out []string) {
	for !p.ahead(sectionStart, findingStart, openDetails) && p.peek() != "" {
		if p.ahead(">") {
			out = append(out, p.paragraph())
		} else {
			out = append(out, p.line())
		}
	}
	return out
}
