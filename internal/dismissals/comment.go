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
		d.Code = codeAt(file, lines, i, strings.TrimSpace(line[:said[0]]))
		switch {
		case what != "":
		case len(line) > maxLine || !printable(line):
			what = "the comment is too long, or holds characters that are not visible"
		case d.Why == "":
			what = "the comment gives no reason: write " + Word + " until=2027-03-31 WHY, or " + Word + " WHY"
		case d.Code == nil:
			what = "there is no code below the comment"
		}
		if what != "" {
			faults = append(faults, Fault{file, i + 1, what})
			continue
		}
		list = append(list, d)
	}
	return list, faults
}

// codeAt is what the comment in line i stands at: the code before it, or below it.
func codeAt(file string, lines []string, i int, before string) *Code {
	if before != "" {
		return &Code{File: file, Line: i + 1, Text: fold(before)}
	}
	for j := i + 1; j < len(lines); j++ {
		if text := fold(lines[j]); text != "" && !Commented(lines[j]) {
			return &Code{File: file, Line: j + 1, Text: text}
		}
	}
	return nil
}

// fold makes one blank of all white space.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
