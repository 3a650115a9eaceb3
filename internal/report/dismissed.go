package report

import (
	"cmp"
	"slices"
	"strings"
)

const (
	dismissalNotes = "Dismissals that do nothing:"
	mergedFact     = ", merged by "
	noEnd          = "no end"
	threadLink     = "[thread]("
)

// dismissed lists what people dismissed: who, why, until when, and where they said so.
func (p *page) dismissed(list []Dismissed, notes []string) {
	if len(list) > 0 {
		lines := []string{header("", "Dismissed", "Where", "By", "Until", "Why", "Said in")}
		for _, f := range list {
			by, until := span(f.By), noEnd
			if f.MergedBy != "" {
				by += mergedFact + span(f.MergedBy)
			}
			if f.Until != "" {
				until = span(f.Until)
			}
			said := span(f.Said)
			if f.Thread != "" {
				said = threadLink + f.Thread + ")"
			}
			lines = append(lines, row(string(f.Priority), f.Title, p.links.place(f.finding()), by, until, f.Why, said))
		}
		p.add(strings.Join(lines, "\n"))
	}
	p.named(dismissalNotes, notes)
}

func (f Dismissed) finding() Finding {
	return Finding{Priority: f.Priority, Title: f.Title, File: f.File, Line: f.Line}
}

// dismissals are as a report shows them.
func dismissals(list []Dismissed, local bool) []Dismissed {
	var out []Dismissed
	for _, f := range list {
		g := finding(f.finding(), local)
		f.Priority, f.Title, f.File, f.Line = g.Priority, g.Title, g.File, g.Line
		f.By, f.MergedBy, f.Until, f.Why, f.Said = word(f.By), word(f.MergedBy), word(f.Until), pipes(inline(f.Why)), word(f.Said)
		if f.Thread = word(f.Thread); f.Thread != "" {
			f.Said = ""
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Dismissed) int {
		return cmp.Or(compare(a.finding(), b.finding()), cmp.Compare(a.Said, b.Said), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.By, b.By), cmp.Compare(a.MergedBy, b.MergedBy),
			cmp.Compare(a.Until, b.Until), cmp.Compare(a.Why, b.Why))
	})
	return out
}
