// Package masks tells what a mask hides of a change that may be code, and what a fix writes over it. It is pure.
package masks

import (
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/sanitize"
)

// Line is a line of a file by its number, from 1: of the head version, or of the one before where the line was removed.
type Line struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Added is an added line of which a mask hides something. Found is how many findings about secrets have to stand for the line, so that one of them is about all
// that the mask took (threats.md T866); where none is, it is 0.
type Added struct {
	Line
	Found int `json:"found,omitempty"`
}

// Hides lists the added and the removed lines of a file of which a mask hides what may be code: one for each value. Of an added line it may be any: how a value is
// written, and where, proves nothing. It may be a command of a shell, a macro of C between two texts, or, in quotes or an address that a program takes apart, the name
// of an image, a package or a repository, and who offers that may choose a random name, or one of an issuer's form. found are the places of the values in added lines
// that findings are about, one for each finding.
func Hides(path, before, after string, found map[int][]sanitize.Span) (added []Added, removed []Line) {
	wasAdded, wasRemoved := diff.ChangedLines(before)
	isAdded, isRemoved := diff.ChangedLines(after)
	hidden(wasAdded, isAdded, func(n int, v value) {
		a := Added{Line: Line{path, n}}
		if v.within(found[n]) && !putIn.MatchString(v.text) {
			a.Found = len(found[n])
		}
		added = append(added, a)
	})
	hidden(wasRemoved, isRemoved, func(n int, v value) {
		if !v.gone(path) {
			removed = append(removed, Line{path, n})
		}
	})
	return added, removed
}

// hidden visits what is masked in lines, in their order.
func hidden(was, is map[int]string, visit func(n int, v value)) {
	for _, n := range slices.Sorted(maps.Keys(is)) {
		if is[n] != was[n] {
			for _, v := range values(was[n], is[n]) {
				visit(n, v)
			}
		}
	}
}
