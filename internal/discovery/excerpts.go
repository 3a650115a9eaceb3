package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/review"
)

// Excerpts are the lines that reviewers are given: those a finder named, of the fragments that were read, but for lines they are shown
// anyway. chars bounds all of them together.
func Excerpts(b Bounds, fragments []review.Fragment, wanted []review.Wanted, shown func(file string, line int) bool, chars int) ([]review.RelatedFile, review.Found) {
	found := review.Found{Excerpts: []review.Excerpt{}}
	refuse := func(w review.Wanted, why string) { found.Refused = append(found.Refused, what(w)+" "+why) }
	taken := map[string]map[int]bool{}
	type piece struct {
		review.Region
		file string
	}
	var pieces []piece
	for _, w := range wanted {
		i := slices.IndexFunc(fragments, func(f review.Fragment) bool { return f.File == w.File })
		switch {
		case i < 0:
			refuse(w, "was not read")
			continue
		case w.Line == nil:
			refuse(w, "names no lines")
			continue
		}
		f := fragments[i]
		lines := strings.SplitAfter(strings.TrimSuffix(f.Text, "\n"), "\n")
		first, last := *w.Line, *w.Line
		if w.LineEnd != nil {
			last = *w.LineEnd
		}
		if first < 1 || last < first || first > len(lines) {
			refuse(w, fmt.Sprintf("has no lines %d to %d among those that were read", first, last))
			continue
		}
		last = min(last, len(lines))
		if len(found.Excerpts) == mostExcerpts {
			refuse(w, fmt.Sprintf("is more than %d excerpts", mostExcerpts))
			continue
		}
		if taken[f.File] == nil {
			taken[f.File] = map[int]bool{}
		}
		left, full := b.Chars, false
		why := reason(w.Reason)
		var open *piece
		end := func() {
			if open != nil {
				pieces = append(pieces, *open)
				found.Excerpts = append(found.Excerpts, review.Excerpt{File: f.File, Line: open.Start, LineEnd: open.End, Reason: why})
				open = nil
			}
		}
		fresh := false
		for n := first; n <= last; n++ {
			size := utf8.RuneCountInString(lines[n-1])
			if taken[f.File][n] || shown(f.File, n) {
				end()
				continue
			}
			if size > left || size > chars {
				full = true
				break
			}
			left, chars, fresh = left-size, chars-size, true
			taken[f.File][n] = true
			if open == nil {
				open = &piece{Region: review.Region{Start: n, Symbol: why}, file: f.File}
			}
			open.End = n
			open.Text += lines[n-1]
		}
		end()
		switch {
		case full:
			refuse(w, fmt.Sprintf("is cut: lines %d to %d are more than there is room for", first, last))
		case !fresh:
			refuse(w, "is shown already")
		}
	}
	slices.SortStableFunc(found.Excerpts, func(x, y review.Excerpt) int { return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line)) })
	slices.SortStableFunc(pieces, func(x, y piece) int { return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.Start, y.Start)) })
	var out []review.RelatedFile
	for _, p := range pieces {
		if n := len(out) - 1; n < 0 || out[n].Path != p.file {
			out = append(out, review.RelatedFile{Path: p.file})
		}
		last := &out[len(out)-1]
		last.Regions = append(last.Regions, p.Region)
	}
	return out, found
}
