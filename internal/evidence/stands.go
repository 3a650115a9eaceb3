package evidence

import (
	"iter"
	"math"
	"strings"
	"sync"

	"github.com/prloop/prloop/sanitize"
)

// Find gives a quote as it stands in the file, without what was copied with it that is no code, and the first and the last line of each of its parts where it
// stands nearest a line. read is empty where it stands nowhere, as one of lines that were taken away, and parts where nobody can tell them.
func (f File) Find(quote string, near int) (read string, parts [][2]int) {
	lines := fileLines(f.text, true)
	for i, way := range readings(quote) {
		if (i == 0 || strings.ContainsFunc(way, isWord)) && f.stands(lines, way) {
			return way, nearest(lines, way, near)
		}
	}
	lines = fileLines(f.asSeen().text, true)
	for _, way := range readings(seen(quote)) {
		if s := (search{left: vainMost}); s.reads(f, way, true) {
			return way, nearest(lines, way, near)
		}
	}
	return "", nil
}

// stands reports whether a quote stands in the file as it is, or is not known to be missing.
func (f File) stands(lines *shownLines, quote string) bool {
	s := search{left: vainMost}
	return f.Exists && (lines.untold || silent(quote) || f.Quotes(quote) || s.inParts(lines.text, straight(Fold(quote))) || s.gaveUp())
}

// readings are the ways to read a quote as code: as it is, without numbers of lines, and without the marks of a diff, of which nothing that it takes away is left.
func readings(quote string) []string {
	quote = bare(quote)
	unnumbered := numberMargin.ReplaceAllString(quote, "")
	return []string{quote, unnumbered, unmarked(quote, "+", "-"), unmarked(unnumbered, "+", "-")}
}

// unmarked is a quote of a diff without the lines of one mark, and without the other mark.
func unmarked(quote, mark, without string) string {
	var b strings.Builder
	for line := range strings.Lines(quote) {
		if line = strings.TrimLeft(line, " \t"); !strings.HasPrefix(line, without) {
			b.WriteString(strings.TrimPrefix(line, mark))
		}
	}
	return b.String()
}

// nearest are the first and the last line of each part of a quote where it stands nearest a line. What a mask stands for is left out as by an ellipsis.
func nearest(lines *shownLines, quote string, near int) (out [][2]int) {
	parts := elided(straight(Fold(strings.ReplaceAll(quote, sanitize.Redacted, "..."))))
	s, least := search{left: vainMost}, math.MaxInt
	for from := 0; !s.gaveUp(); {
		places := s.inOrder(lines.text, parts, from)
		if places == nil {
			return out
		}
		first, last := places[0], places[len(places)-1]
		if far := max(0, lines.number(first[0])-near, near-lines.number(last[1]-1)); far < least {
			out, least = nil, far
			for _, p := range places {
				out = append(out, [2]int{lines.number(p[0]), lines.number(p[1] - 1)})
			}
		}
		from = first[0] + 1
		s.left -= 1 + (last[1]-first[0])/64
	}
	return out
}

// Keeps reports whether whole lines of another version of the file stand in some lines of this one, from and to included, whatever white space somebody put into them or
// took out. Beside them stands only what did there. Lines that are not known to be missing count as kept.
func (f File) Keeps(old File, lines [2]int, from, to int) bool {
	above := sync.OnceValue(func() string { return strings.Join(old.dense(1, lines[0]-1), "") })
	below := sync.OnceValue(func() string { return strings.Join(old.dense(lines[1]+1, math.MaxInt), "") })
	stands, sure := within(f.dense(from, to), strings.Join(old.dense(lines[0], lines[1]), ""), func(before, behind string) bool {
		return (before == "" || strings.HasSuffix(above(), before)) && (behind == "" || strings.HasPrefix(below(), behind))
	})
	return f.Exists && (stands || !sure)
}

// Same reports whether another version of the file holds the same.
func (f File) Same(o File) bool { return f.Exists && o.Exists && f.text.text == o.text.text }

// Lines are some lines of the file, from and to included, without white space at their ends; those that are blank are left out.
func (f File) Lines(from, to int) (out []string) {
	for line := range f.between(from, to) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// between are the lines of the file from one to another, both included.
func (f File) between(from, to int) iter.Seq[string] {
	return func(yield func(string) bool) {
		if f.text == nil {
			return
		}
		n := 0
		for line := range strings.Lines(f.text.text) {
			if n++; n > to || n >= from && !yield(line) {
				return
			}
		}
	}
}

// Restored reports whether what a quote shows of lines that were taken away makes whole lines of the file.
func (f File) Restored(quote string) bool {
	quote = bare(quote)
	now := f.dense(1, math.MaxInt)
	for _, read := range []string{quote, unmarked(quote, "-", "+")} {
		code := dense(read)
		if stands, _ := within(now, code, func(before, behind string) bool { return before+behind == "" }); code != "" && stands {
			return true
		}
	}
	return false
}

// within reports whether code stands in some lines that have nothing beside it but what may be there before and behind it. Where there is none these lines are blank.
// It is not sure where the code stands in more places than are looked at.
func within(lines []string, code string, beside func(before, behind string) bool) (stands, sure bool) {
	text := strings.Join(lines, "")
	if code == "" {
		return text == "", true
	}
	n, begins := 0, 0 // the line in which the code begins, and where that does
	for at, tried := 0, 0; ; at, tried = at+1, tried+1 {
		i := strings.Index(text[at:], code)
		if i < 0 || tried == mostPlaces {
			return false, i < 0
		}
		for at += i; begins+len(lines[n]) <= at; n++ {
			begins += len(lines[n])
		}
		end := begins
		for k := n; end < at+len(code); k++ {
			end += len(lines[k])
		}
		if beside(text[begins:at], text[at+len(code):end]) {
			return true, true
		}
	}
}

// dense are some lines of the file, from and to included, as denseLine gives them.
func (f File) dense(from, to int) (out []string) {
	for line := range f.between(from, to) {
		for part := range strings.SplitSeq(strings.TrimRight(line, "\r\n"), "\r") { // where carriage returns alone end lines git sees one
			out = append(out, denseLine(part))
		}
	}
	return out
}

// denseLine is a line without any white space, nor a backslash at the end, behind which it goes on.
func denseLine(s string) string { return strings.TrimSuffix(dense(s), `\`) }

// dense is a folded text without any white space.
func dense(s string) string { return straight(strings.ReplaceAll(Fold(s), " ", "")) }
