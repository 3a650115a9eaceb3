// Package masks tells what a mask hides of a change that may be code, and what a fix writes over it. It is pure.
package masks

import (
	"slices"

	"github.com/prloop/prloop/internal/diff"
)

// Line is a line of a file by its number, from 1: of the head version, or of the one before where the line was removed.
type Line struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

// Hides lists the added and the removed lines of a file of which a mask hides what may be code: one for each value. Of an added line it may be any: how a value is
// written, and where, proves nothing. It may be a command of a shell, a macro of C between two texts, or, in quotes or an address that a program takes apart, the name
// of an image, a package or a repository, and who offers that may choose a random name, or one of an issuer's form.
func Hides(path, before, after string) (added, removed []Line) {
	if before == after {
		return nil, nil
	}
	wasAdded, wasRemoved := diff.ChangedLines(before)
	isAdded, isRemoved := diff.ChangedLines(after)
	return hidden(path, wasAdded, isAdded, func(value) bool { return false }),
		hidden(path, wasRemoved, isRemoved, func(v value) bool { return v.gone(path) })
}

// hidden lists the lines in which a value that harmless does not know is masked, once for each of them.
func hidden(path string, was, is map[int]string, harmless func(value) bool) []Line {
	var out []Line
	for n, line := range is {
		if line == was[n] {
			continue
		}
		found, ok := values(was[n], line)
		if !ok {
			out = append(out, Line{path, n}, Line{path, n}) // no finding is about all of it
		}
		for _, v := range found {
			if !harmless(v) {
				out = append(out, Line{path, n})
			}
		}
	}
	slices.SortFunc(out, func(a, b Line) int { return a.Line - b.Line })
	return out
}
