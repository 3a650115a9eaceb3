package repocontext

import (
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/internal/symbols"
	"github.com/prloop/prloop/review"
)

const (
	// around is how many lines are given on each side of a change (spec.md R7).
	around = 20
	// widest is the longest function, and typeWidest the longest type, a region is widened to, in lines; of longer ones only
	// the name is given.
	widest     = 300
	typeWidest = 100
)

// span is one definition: a function or a type. Lines are 1-based and inclusive.
type span struct {
	start, end int
	name       string
	function   bool
}

// regionsOf gives the regions of a file's head version around its hunks: ±20 lines, widened to the enclosing function,
// merged where they touch, in line order. The second result names the definition a line stands in; empty for none.
func regionsOf(path string, text []byte, hunks []diff.Hunk, structured bool) ([]review.Region, func(line int) string) {
	lines := splitLines(text)
	if len(lines) == 0 {
		return nil, nil
	}
	var known []span
	exact := false
	if structured {
		var f symbols.File
		f, exact = symbols.Read(lang.Of(path), text)
		known = spansOf(f)
	}
	find := func(c span) (span, bool) {
		if exact {
			return enclosing(known, c)
		}
		return byIndent(lines, c.start)
	}
	var regions []review.Region
	for _, c := range changes(hunks, len(lines)) {
		r := review.Region{Start: max(1, c.start-around), End: min(len(lines), c.end+around)}
		if s, ok := find(c); ok {
			r.Symbol = s.name
			if n := s.end - s.start + 1; n <= typeWidest || (s.function && n <= widest) {
				r.Start, r.End = min(r.Start, s.start), max(r.End, s.end)
			}
		}
		regions = append(regions, r)
	}
	regions = merge(regions)
	for i := range regions {
		regions[i].Text = spelling.Text(strings.Join(lines[regions[i].Start-1:regions[i].End], ""))
	}
	return regions, func(line int) string {
		if s, ok := find(span{start: line, end: line}); ok && s.start <= line && line <= s.end {
			return s.name
		}
		return ""
	}
}

// besideDiff takes out of regions the lines that stand in the hunks, and what is then nothing but brackets. What is left is named by
// the definition its first line stands in, by in: a region around several changes has the names of all of them.
func besideDiff(regions []review.Region, hunks []diff.Hunk, in func(line int) string) []review.Region {
	there := map[int]bool{}
	for i := range hunks {
		for l := range hunks[i].Lines() {
			there[l.New] = true
		}
	}
	var all []review.Region
	for _, r := range regions {
		rest := review.Region{}
		end := func() {
			if strings.ContainsFunc(rest.Text, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
				all = append(all, rest)
			}
			rest = review.Region{}
		}
		n := r.Start
		for line := range strings.Lines(r.Text) {
			switch {
			case there[n]:
				end()
			case rest.Text == "":
				rest = review.Region{Start: n, End: n, Symbol: in(n), Text: line}
			default:
				rest.End, rest.Text = n, rest.Text+line
			}
			n++
		}
		end()
	}
	return all
}

// spansOf are the functions and types of a file.
func spansOf(f symbols.File) []span {
	var all []span
	for _, d := range f.Definitions {
		if d.Kind != symbols.Value {
			all = append(all, span{start: d.Start, end: d.End, name: d.Full(), function: d.Kind == symbols.Function})
		}
	}
	return all
}

// splitLines keeps line ends, so that joining gives the text back.
func splitLines(text []byte) []string {
	return slices.Collect(strings.Lines(string(text)))
}

// changes are the runs of changed lines at the head; where lines were only removed, the line that follows.
func changes(hunks []diff.Hunk, lines int) []span {
	var all []span
	add := func(line int) {
		line = min(max(line, 1), lines)
		if n := len(all); n > 0 && line <= all[n-1].end+1 {
			all[n-1].end = max(all[n-1].end, line)
			return
		}
		all = append(all, span{start: line, end: line})
	}
	for i := range hunks {
		next := hunks[i].NewStart
		for l := range hunks[i].Lines() {
			switch l.Op {
			case '+':
				add(l.New)
				next = l.New + 1
			case '-':
				add(next)
			default:
				next = l.New + 1
			}
		}
	}
	return all
}

// enclosing is the smallest definition around a change; a function wins over the types and functions around it.
func enclosing(spans []span, c span) (span, bool) {
	best, found := span{}, false
	for _, s := range spans {
		if s.start > c.start || s.end < c.start {
			continue
		}
		if !found || s.end-s.start < best.end-best.start {
			best, found = s, true
		}
	}
	if found && c.end > best.end {
		best.end = min(c.end, best.start+widest) // the change runs on past the function
	}
	return best, found
}

// merge joins regions that overlap or touch and names all symbols once, in order.
func merge(regions []review.Region) []review.Region {
	slices.SortStableFunc(regions, func(a, b review.Region) int { return a.Start - b.Start })
	var all []review.Region
	var names [][]string
	for _, r := range regions {
		n := len(all) - 1
		if n < 0 || r.Start > all[n].End+1 {
			all = append(all, r)
			names = append(names, nil)
			n++
		}
		all[n].End = max(all[n].End, r.End)
		if r.Symbol != "" && !slices.Contains(names[n], r.Symbol) {
			names[n] = append(names[n], r.Symbol)
		}
	}
	for i := range all {
		if len(names[i]) > 5 {
			names[i] = append(names[i][:5], "...")
		}
		all[i].Symbol = strings.Join(names[i], ", ")
	}
	return all
}
