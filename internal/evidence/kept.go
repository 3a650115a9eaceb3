package evidence

import (
	"slices"
	"strings"
)

const (
	// keptMost bounds what a checker keeps of files, in bytes: an answer may cite a hundred of 2 MB.
	keptMost = 64 << 20
	// readMost bounds what a checker reads of them, in bytes, those counted again that it kept no longer.
	readMost = 256 << 20
	// linesMost bounds how many lines of a text are told apart. A quote is not looked for line by line in what has more.
	linesMost = 500_000
)

// kept are files that were read and may be asked for again, by key. What came first goes first.
type kept struct {
	files map[string]File
	order []string
	bytes int
}

// add keeps a file, and lets others go that take up too much beside it.
func (k *kept) add(key string, f File) {
	k.files[key] = f
	k.order = append(k.order, key)
	for k.bytes += len(key) + f.takes(); k.bytes > keptMost && len(k.order) > 1; k.order = slices.Delete(k.order, 0, 1) {
		first := k.order[0]
		k.bytes -= len(first) + k.files[first].takes()
		delete(k.files, first)
	}
}

// takes is how much a file takes up with its lines, also when nobody has asked for these yet, in bytes.
func (f File) takes() int {
	if f.text == nil {
		return 0
	}
	const line = 48 // a shownLine, and where it begins
	n := 3*max(len(f.text.text), len(f.folded)) + len(f.folded) + line*min(f.lines, linesMost)
	if seen(f.text.text) != f.text.text {
		n *= 2
	}
	return n
}

// shownLines are the lines of a text, the text they make in one, and the place where each begins in it.
type shownLines struct {
	each   []shownLine
	text   string
	starts []int
	// untold is true of a text of too many lines: none of them are here.
	untold bool
}

// number is the number of the last line that begins at a place of the text or before it; blank ones begin where the next does.
func (l *shownLines) number(offset int) int {
	n, _ := slices.BinarySearch(l.starts, offset+1)
	return n
}

// source is the text of a file, and its lines, and the file as people see it, once somebody has asked for them: an answer may quote one file many times.
type source struct {
	text  string
	lines *shownLines
	seen  *File
}

// fileLines are the lines of a file, with their numbers when it is the head version.
func fileLines(s *source, head bool) *shownLines {
	if s == nil {
		return &shownLines{}
	}
	if s.lines == nil {
		s.lines = numbered(s.text, 1)
	}
	if head {
		return s.lines
	}
	bare := *s.lines
	bare.each = slices.Clone(bare.each)
	for i := range bare.each {
		bare.each[i].number = 0
	}
	return &bare
}

// numbered are the lines of a text of which the first has a number.
func numbered(text string, first int) *shownLines {
	n := countLines(text)
	if n > linesMost {
		return &shownLines{untold: true}
	}
	each := make([]shownLine, 0, n)
	for line := range strings.Lines(text) {
		each = append(each, shownLine{number: first + len(each), text: foldLine(line)})
	}
	return joined(each)
}

// countLines is how many lines a text has.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// joined are lines with their text in one.
func joined(each []shownLine) *shownLines {
	var b strings.Builder
	starts := make([]int, 0, len(each))
	for _, l := range each {
		if l.text != "" && b.Len() > 0 {
			b.WriteByte(' ')
		}
		starts = append(starts, b.Len())
		b.WriteString(l.text)
	}
	return &shownLines{each: each, text: b.String(), starts: starts}
}
