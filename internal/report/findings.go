package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

const (
	openDetails  = "<details>"
	closeDetails = "</details>"
	separator    = " · "
	labelReason  = "**Reason:** "
	causeFact    = "introduced by commit "
	lookFact     = "a person has to look"
	waitsFact    = "waits for a person"
	confirmFact  = "confirmed by the verifier"
	raisedFact   = "score raised from "
	identityFact = "identity "
	noEvidence   = "no evidence"
	findingStart = "#### "
)

// Bounds of what stands of one finding before the rest is folded, in bytes. With five lines of evidence that is some 12 lines.
const (
	longText       = 700
	longSuggestion = 500
	// longOther bounds a suggestion, or a description, beside the first.
	longOther = 240
)

// Beginnings of the summaries of what is folded.
const (
	sumMust     = "Details of other findings to fix: "
	sumOptional = "Optional: "
	sumInline   = "Optional, in comments on the lines: "
	sumUnposted = "Optional, would be in comments on the lines: "
	sumAside    = "Set aside, not counted: "
	sumMore     = "More about this finding"
	sumAlso     = "In these words"
)

// findings gives the details: of what must be fixed those that are open, then all others, folded.
func (p *page) findings(d Data) {
	var folded, optional, inline []Finding
	for _, f := range d.Findings {
		switch {
		case f.Inline && f.Must: // it has its row
		case f.Inline:
			inline = append(inline, f)
		case !f.Must:
			optional = append(optional, f)
		case f.Open:
			p.finding(f, true)
		default:
			folded = append(folded, f)
		}
	}
	p.folded(sumMust+tally(folded), folded)
	p.folded(sumAside+tally(d.Unverified), d.Unverified)
	p.folded(sumOptional+tally(optional), optional)
	if len(inline) > 0 {
		sum := sumInline
		if unposted(inline) {
			sum = sumUnposted
		}
		p.fold(sum+tally(inline), func() {
			var lines []string
			for _, f := range inline {
				lines = append(lines, fmt.Sprintf("- **%s** %s %s", f.Priority, p.links.brief(f), f.Title))
			}
			p.add(strings.Join(lines, "\n"))
		})
	}
}

func (p *page) folded(summary string, list []Finding) {
	if len(list) == 0 {
		return
	}
	p.fold(summary, func() {
		for _, f := range list {
			p.finding(f, false)
		}
	})
}

// toLookAt are the findings of a list that a person has to look at.
func toLookAt(list []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(list), func(f Finding) bool { return !f.Look })
}

// tally counts by priority: "1 P0, 2 P2".
func tally(list []Finding) string {
	var parts []string
	for _, l := range review.Levels() {
		n := 0
		for _, f := range list {
			if f.Priority == l.Priority {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, l.Priority))
		}
	}
	return strings.Join(parts, ", ")
}

// finding gives the details of one. What is long of one that is open is folded; inside a fold nothing is.
func (p *page) finding(f Finding, open bool) {
	p.add(findingStart+string(f.Priority)+": "+f.Title, strings.Join(p.facts(f), separator))
	if f.Reason != "" {
		p.add(labelReason + f.Reason)
	}
	texts, suggestions := paragraphs(f.Description), f.Suggestions
	n, m := len(texts), len(suggestions)
	if open {
		n, m = brief(texts), short(suggestions)
	}
	p.texts(texts[:n])
	if f.Evidence != "" {
		p.add(fence(f.Evidence, f.Language))
	}
	p.suggestions(suggestions[:m])
	if n < len(texts) || m < len(suggestions) {
		p.fold(sumMore, func() {
			p.texts(texts[n:])
			p.suggestions(suggestions[m:])
		})
	}
	p.also(f.Also, open)
}

// also adds what others say of a finding. What is long stands behind a fold where that is not in one itself.
func (p *page) also(list []Wording, fold bool) {
	for _, w := range list {
		who := fmt.Sprintf("%s, %s", span(w.By), w.Priority)
		if w.Category != "" {
			who += ", " + span(w.Category)
		}
		p.add(fmt.Sprintf("**Also (%s):** %s", who, w.Title))
		if texts := paragraphs(w.Description); fold && len(w.Description) > longOther {
			p.fold(sumAlso, func() { p.texts(texts) })
		} else {
			p.texts(texts)
		}
	}
}

// facts is the line below a finding's title.
func (p *page) facts(f Finding) []string {
	facts := []string{p.links.place(f), span(f.Category)}
	if len(f.By) > 0 {
		facts = append(facts, "found by "+spans(f.By))
	}
	if f.Confirmed {
		facts = append(facts, confirmFact)
	}
	if f.Evidence == "" {
		facts = append(facts, noEvidence)
	}
	if f.OriginalScore > 0 {
		facts = append(facts, fmt.Sprintf("%s%d to %d", raisedFact, f.OriginalScore, f.Score))
	}
	if f.Cause != "" {
		facts = append(facts, causeFact+p.links.cause(f.Cause))
	}
	if f.Look {
		facts = append(facts, lookFact)
	}
	if f.Waits {
		facts = append(facts, waitsFact)
	}
	if f.ID != "" {
		facts = append(facts, "id "+span(f.ID))
	}
	if f.Identity != "" {
		facts = append(facts, identityFact+span(f.Identity))
	}
	return facts
}

// brief is how many of a finding's paragraphs stand openly: the first, and as many more as are short.
func brief(texts []string) int {
	left := longText
	for i, t := range texts {
		if left -= len(t); left < 0 && i > 0 {
			return i
		}
	}
	return len(texts)
}

// texts adds paragraphs: what is one is plain text, whatever else it is stands in a quote, which bounds what it may leave open.
func (p *page) texts(list []string) {
	for _, t := range list {
		if !simple(t) && !quotation(t) {
			t = quote(t)
		}
		p.add(t)
	}
}

// short is how many suggestions stand openly: those before the first that is long. The first of a finding may be longer than others.
func short(list []Suggestion) int {
	most := longSuggestion
	for i, s := range list {
		if len(s.Text) > most || strings.Count(s.Text, "\n") > 6 {
			return i
		}
		most = longOther
	}
	return len(list)
}

func (p *page) suggestions(list []Suggestion) {
	for _, s := range list {
		lead := "**Fix:**"
		if s.By != "" {
			lead = "**Fix (" + span(s.By) + "):**"
		}
		if simple(s.Text) {
			p.add(lead + " " + s.Text)
		} else {
			p.add(lead, quote(s.Text))
		}
	}
}
