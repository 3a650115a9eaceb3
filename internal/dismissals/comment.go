package dismissals

import (
	"bytes"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Word begins a comment that dismisses what is found in the code it stands at.
const Word = "prloop:ignore"

// comment matches such a comment behind the mark of any language; until and why follow it.
var comment = lazyregexp.New(`(?:^|[ \t])(?://+|/\*+|\*|#+|--|<!--|;+|%+)[ \t]*` + Word + `(?:[ \t]+(.*?))?[ \t]*(?:\*/|-->)?[ \t]*$`)

// Commented reports whether a line holds a comment with Word.
func Commented(line string) bool {
	return strings.Contains(line, Word) && comment.MatchString(strings.TrimRight(line, "\r\n"))
}

// ReadCode gives the dismissals in the comments of a file of code, whose name is spelled. A comment beside code is about its
// line, one alone about the next line that is not blank.
func ReadCode(file string, text []byte) (list []Dismissal, faults []Fault) {
	if !bytes.Contains(text, []byte(Word)) {
		return nil, nil
	}
	lines := strings.Split(string(text), "\n")
	b := below{file: file, lines: lines}
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if !Commented(line) {
			continue
		}
		said := comment.FindStringSubmatchIndex(line)
		d := Dismissal{File: file, Line: i + 1}
		if said[2] >= 0 {
			d.Why = line[said[2]:said[3]]
		}
		what := ""
		if day, rest, _ := strings.Cut(d.Why, " "); strings.HasPrefix(day, "until=") {
			d.Until, what = Day(strings.TrimPrefix(day, "until="))
			d.Why = strings.TrimSpace(rest)
		}
		if before := strings.TrimSpace(line[:said[0]]); before != "" {
			d.Code = &Code{File: file, Line: i + 1, Text: fold(before)}
		} else if code := b.line(i); code != nil {
			own := *code // whoever has a dismissal says where its code is now
			d.Code = &own
		}
		switch {
		case what != "":
		case len(line) > maxLine || !printable(line):
			what = "the comment is too long, or holds characters that are not visible"
		case d.Why == "":
			what = "the comment gives no reason: write " + Word + " until=2027-03-31 WHY, or " + Word + " WHY"
		case d.Code == nil:
			what = "there is no code below the comment"
		case len(d.Code.Text) > maxLine:
			what = "the code below the comment is too long"
		}
		if what != "" {
			faults = append(faults, Fault{file, i + 1, what})
			continue
		}
		list = append(list, d)
	}
	return list, faults
}

// below finds the code below the lines of a file, which are asked for from top to bottom: each line is looked at once.
type below struct {
	file  string
	lines []string
	next  int   // the first line that was not looked at
	code  *Code // the code above it that was found last, nil for none
}

// line is the first code below line i; nil when there is none.
func (b *below) line(i int) *Code {
	if b.code != nil && b.code.Line > i+1 {
		return b.code
	}
	b.code = nil
	for b.next = max(b.next, i+1); b.next < len(b.lines) && b.code == nil; b.next++ {
		if text := fold(b.lines[b.next]); text != "" && !Commented(b.lines[b.next]) {
			b.code = &Code{File: b.file, Line: b.next + 1, Text: text}
		}
	}
	return b.code
}

// fold makes one blank of all white space.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
