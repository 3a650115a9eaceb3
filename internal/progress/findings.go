package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/distinct"
	"github.com/prloop/prloop/internal/report"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

const (
	// rows is how many findings the summary lists; the report has them all.
	rows = 20
	// longestSentence bounds what is told of why and how, in columns each.
	longestSentence = 300
)

// list writes the findings as compilers write errors: what has to be fixed before what is optional, the most urgent first. Each has place,
// priority and title, then why in a sentence, how to fix it in another, and who said so. Findings that are the same one stand once.
func list(b *strings.Builder, r review.RunResult, width int, c palette) {
	groups := distinct.Of(r)
	if len(groups) == 0 && len(r.Unverified) == 0 && len(r.Dismissed) == 0 && len(r.DismissalNotes) == 0 {
		return
	}
	if len(groups) > 0 {
		b.WriteString("\n" + wrapped(heads(groups, c), width) + "\n")
	}
	for _, g := range groups[:min(len(groups), rows)] {
		b.WriteString(described(g, width, c))
	}
	if n := len(groups) - rows; n > 0 {
		fmt.Fprintf(b, "  and %d more: prloop show %s\n", n, line(r.Run))
	}
	small := slices.IndexFunc(groups, func(g distinct.Finding) bool { return !g.Wordings[0].Priority.Severe() })
	if r.Target.Local() && small >= 0 { // what is graver counts all the same
		b.WriteString(wrapped("to dismiss a finding by its identity: prloop dismiss "+line(groups[small].ID[:min(len(groups[small].ID), 8)])+" --reason TEXT", width))
	}
	if shown, all := report.Shown(r.Receipt); shown < all {
		b.WriteString(wrapped(fmt.Sprintf("%d of %d findings are shown (limits.max_output_issues)", shown, all), width))
	}
	if n := len(r.Unverified); n > 0 {
		b.WriteString(wrapped(fmt.Sprintf("%d not counted: set aside, see the report", n), width))
	}
	for _, d := range r.Dismissed {
		b.WriteString(wrapped(c.dim("dismissed: ")+dismissed(d), width))
	}
	for _, note := range r.DismissalNotes {
		b.WriteString(wrapped(c.paint("33", "dismissals:")+" "+named(note), width))
	}
	if n := len(r.Stuck); n > 0 {
		b.WriteString(wrapped(c.paint("33", fmt.Sprintf("%d stuck: reported fixed, and found again", n)), width))
	}
}

// dismissed says what was dismissed, by whom, why and until when.
func dismissed(d review.Dismissed) string {
	by := cmp.Or(d.By, "a comment")
	if d.MergedBy != "" {
		by += ", merged by " + d.MergedBy
	}
	text := fmt.Sprintf("%s %s, by %s: %s", d.Finding.Priority, line(sanitize.Redact(d.Finding.Title)), line(sanitize.Redact(by)), line(sanitize.Redact(d.Why)))
	if place := where(d.Finding); place != "" {
		text = place + ": " + text
	}
	if d.Until != "" {
		text += ", until " + line(d.Until)
	}
	if d.Thread != "" {
		return fmt.Sprintf("%s (%s)", text, line(d.Thread))
	}
	return fmt.Sprintf("%s (%s:%d)", text, line(d.File), d.Line)
}

// described is one finding. Its place is never broken or cut: terminals make a link of it.
func described(g distinct.Finding, width int, c palette) string {
	f := g.Wordings[0]
	place, by := where(f), "("+strings.Join(sources(g.Wordings), ", ")+") "+line(g.ID[:min(len(g.ID), 8)])
	head := string(f.Priority) + " " + line(sanitize.Redact(f.Title))
	var says []string
	if f.Priority == review.P3 {
		head += " " + by
	} else {
		if f.Source.Type != "comment" && f.Source.Type != "review" { // what people said begins in the title
			says = append(says, sentence(f.Description))
		}
		if fix := sentence(f.Suggestion); fix != "" {
			says = append(says, "Fix: "+fix)
		}
		says = append(says, by)
	}
	if place != "" {
		head = place + ": " + head
	}
	text := Wrap(head, width-1, 4)
	if place != "" {
		place += ":"
	}
	text = c.bold(place) + strings.Replace(strings.TrimPrefix(text, place), string(f.Priority), c.priority(f.Priority, string(f.Priority)), 1)
	if len(says) > 0 {
		text += "\n    " + Wrap(strings.Join(says, " "), width-1, 4)
	}
	return text + "\n"
}

// heads says how many distinct findings there are to fix and how many are optional, by priority.
func heads(groups []distinct.Finding, c palette) string {
	var parts []string
	for _, k := range []struct {
		must  bool
		words string
	}{{true, "to fix"}, {false, "optional"}} {
		of := slices.DeleteFunc(slices.Clone(groups), func(g distinct.Finding) bool { return g.Must != k.must })
		if len(of) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s: %s", len(of), k.words, counts(of, c)))
		}
	}
	return strings.Join(parts, "; ")
}

// counts says how many distinct findings there are of each priority, and nothing of those there are none of.
func counts(groups []distinct.Finding, c palette) string {
	n := map[review.Priority]int{}
	for _, g := range groups {
		n[g.Wordings[0].Priority]++
	}
	var parts []string
	for _, l := range review.Levels() {
		if n[l.Priority] > 0 {
			parts = append(parts, c.priority(l.Priority, fmt.Sprintf("%d %s", n[l.Priority], l.Priority)))
		}
	}
	return strings.Join(parts, ", ")
}

// sources are who raised a finding, each once.
func sources(group []review.Finding) []string {
	var out []string
	for _, f := range group {
		if name := line(f.Source.Name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// sentence is the first sentence of a text, without Markdown's fences, on one line.
func sentence(s string) string {
	for l := range strings.Lines(sanitize.Redact(s)) {
		l = line(l)
		if l == "" || strings.HasPrefix(l, "```") {
			continue
		}
		for i := range len(l) - 1 {
			if strings.IndexByte(".!?", l[i]) >= 0 && l[i+1] == ' ' && !abbreviation(l[:i]) {
				l = l[:i+1]
				break
			}
		}
		return cut(l, longestSentence)
	}
	return ""
}

// abbreviation reports whether a text ends in one, so that the dot behind it ends no sentence.
func abbreviation(s string) bool {
	return strings.HasSuffix(s, "e.g") || strings.HasSuffix(s, "i.e") || strings.HasSuffix(s, "etc") || strings.HasSuffix(s, "vs")
}

// where is a finding's place as compilers write one; empty when it has none.
func where(f review.Finding) string {
	file := line(sanitize.Redact(f.File))
	switch {
	case file == "":
		return ""
	case f.Line == nil:
		return file
	}
	return fmt.Sprintf("%s:%d", file, *f.Line)
}
