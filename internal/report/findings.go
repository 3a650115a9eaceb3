package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/review"
)

const (
	openDetails   = "<details>"
	closeDetails  = "</details>"
	separator     = " · "
	labelSuggest  = "Suggestion:"
	labelEvidence = "Evidence:"
	labelReason   = "Reason: "
	causeFact     = "introduced by commit "
	lookFact      = "a person has to look"
)

// findings shows the first list openly under its priorities and the rest collapsed.
func (p *page) findings(d Data) {
	list := d.Findings
	if len(list) == 0 {
		return
	}
	p.add(secFindings)
	open := 0
	for open < len(list) && list[open].Open {
		open++
	}
	p.groups(list[:open])
	if rest := list[open:]; len(rest) > 0 {
		p.add(openDetails + "\n<summary>" + count(len(rest), "further finding") + ": " + tally(rest) + "</summary>")
		p.groups(rest)
		p.add(closeDetails)
	}
}

func (p *page) groups(list []Finding) {
	var last review.Priority
	for _, f := range list {
		if f.Priority != last {
			l := f.Priority.Level()
			p.add(fmt.Sprintf("### %s %s", l.Priority, l.Label))
			last = f.Priority
		}
		p.finding(f)
	}
}

// list is a section of its own for findings that stand apart, collapsed behind one sentence.
func (p *page) list(heading, sentence string, list []Finding) {
	if len(list) == 0 {
		return
	}
	p.add(heading, sentence, openDetails+"\n<summary>"+count(len(list), "finding")+": "+tally(list)+"</summary>")
	for _, f := range list {
		p.finding(f)
	}
	p.add(closeDetails)
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

func (p *page) finding(f Finding) {
	facts := []string{"**" + string(f.Priority) + "**", span(f.Category), p.links.place(f)}
	if len(f.By) > 0 {
		facts = append(facts, "by "+spans(f.By))
	}
	if f.Verified {
		facts = append(facts, "evidence verified")
	}
	if f.Confirmed {
		facts = append(facts, "confirmed by the verifier")
	}
	if f.Evidence == "" {
		facts = append(facts, "no evidence")
	}
	if f.OriginalScore > 0 {
		facts = append(facts, fmt.Sprintf("score raised from %d to %d", f.OriginalScore, f.Score))
	}
	if f.Cause != "" {
		facts = append(facts, causeFact+p.links.cause(f.Cause))
	}
	if f.Look {
		facts = append(facts, lookFact)
	}
	if f.ID != "" {
		facts = append(facts, "id "+span(f.ID))
	}
	p.add("#### "+f.Title, strings.Join(facts, separator))
	if f.Reason != "" {
		p.add(labelReason + f.Reason)
	}
	if f.Description != "" {
		p.add(quote(f.Description))
	}
	if f.Suggestion != "" {
		p.add(labelSuggest, quote(f.Suggestion))
	}
	if f.Evidence != "" {
		p.add(labelEvidence, fence(f.Evidence, f.Language))
	}
}
