package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

// Section is the answer of a command that feeds the report of a review, condensed.
type Section struct {
	// ID is the command's name in `.reviewerc`, Title what people read.
	ID, Title string
	// Summary is a Markdown block, Reason why the answer is not complete; empty when it is.
	Summary, Reason string
	// Short says how many of its files it was given whole; empty when these are all.
	Short string
	// Nothing is true when nothing that it could be given changed.
	Nothing    bool
	Confidence review.Confidence
	// Found is how many findings it has. Those that count stand among the report's own; Listed are those of a command whose findings do not.
	Found  int
	Counts bool
	Listed []Finding
}

// sectionStart begins one.
const sectionStart = "### "

// sumListed begins the summary of findings that do not count.
const sumListed = "Found, not counted: "

const countedFact = ", counted above"

func (p *page) sections(list []Section) {
	for _, s := range list {
		p.add(sectionStart+s.Title, strings.Join(s.facts(), separator))
		if s.Reason != "" {
			p.add(incomplete + s.Reason)
		}
		if s.Short != "" {
			p.add(cutShort + s.Short)
		}
		p.texts(paragraphs(s.Summary))
		p.folded(sumListed+tally(s.Listed), s.Listed)
	}
}

// facts is the line below a section's title.
func (s Section) facts() []string {
	facts := []string{"command " + span(s.ID), came(s.Found, 0, s.Reason, s.Short, s.Nothing)}
	if s.Found > 0 && s.Counts {
		facts[1] += countedFact
	}
	if s.Confidence != "" {
		facts = append(facts, "confidence "+string(s.Confidence))
	}
	return facts
}

func sections(list []Section, local bool) []Section {
	var out []Section
	for _, s := range list {
		c := Section{
			ID: word(s.ID), Title: cmp.Or(inline(cmp.Or(s.Title, s.ID)), "(no title)"), Reason: sentence(inline(s.Reason)), Short: sentence(inline(s.Short)), Confidence: review.Confidence(word(string(s.Confidence))),
			Found: max(s.Found, 0), Counts: s.Counts, Nothing: s.Nothing,
		}
		if texts := paragraphs(prose(s.Summary)); len(texts) > 0 {
			c.Summary = strings.Join(texts[:brief(texts)], "\n\n")
		}
		if c.Listed = findings(s.Listed, local); c.Counts {
			c.Listed = nil
		} else {
			c.Found = len(c.Listed)
		}
		c.Counts = c.Counts && c.Found > 0
		for i := range c.Listed {
			f := &c.Listed[i]
			f.Must, f.Open, f.Stuck, f.Look, f.Standing = false, false, false, false, ""
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Summary, b.Summary))
	})
	return out
}

// came is what a command's answer came to, in a few words: found findings, and others that were set aside. short says that it was not given all, nothing that
// no changed file was there to give.
func came(found, aside int, reason, short string, nothing bool) string {
	switch {
	case found > 0:
		return count(found, "finding")
	case reason != "":
		return "no answer"
	case aside > 0:
		return count(aside, "finding") + " set aside"
	case short != "":
		return "no findings in what it was given"
	case nothing:
		return "given no changed file"
	}
	return "no findings"
}
