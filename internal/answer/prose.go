package answer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// around is what may stand around words of a line.
const around = "[]()|*_`#:>- \t\r\n"

// graveWords are those of which one stands in every line that calls something a P0 or P1.
var graveWords = []string{"p0", "p1", "critical", "block", "severe", "high"}

// Beside says why text beside a valid answer may hold a P0 or P1 that the answer does not list: an object or a line of a list that says
// so of itself. Prose that only speaks of such things does not: agents tell what they looked for (decision 34). One line that has the title of
// a listed one is about that one, where this has several words, and the line is no graver and names no other place.
func Beside(text []byte, findings []review.Finding) string {
	if slices.ContainsFunc(findings, Unreadable) { // one place is enough
		return ""
	}
	lower := plainly(text)
	for _, f := range severe(findings) {
		title := plainly([]byte(f.Title))
		if !strings.Contains(title, " ") || !strings.Contains(lower, title) {
			continue
		}
		lines := strings.Split(lower, "\n")
		if i := slices.IndexFunc(lines, func(line string) bool { return about(line, title, f) }); i >= 0 {
			lower = strings.Join(slices.Delete(lines, i, i+1), "\n")
		}
	}
	lower = undenied(lower)
	if graveObject.MatchString(lower) || graveLines(lower) {
		return "text beside it names a P0 or P1 that it does not list"
	}
	return ""
}

// about reports whether a line in lower case is about a listed finding: it has its title, calls it nothing graver and names no other file or line.
func about(line, title string, f review.Finding) bool {
	before, after, ok := strings.Cut(line, title)
	rest, file := before+" "+after, strings.ToLower(f.File)
	if !ok || f.Priority != review.P0 && highest.MatchString(rest) {
		return false
	}
	for _, m := range place.FindAllStringSubmatch(rest, -1) {
		if name := strings.TrimLeft(m[1]+m[3], "./"); name != "" && name != file && !strings.HasSuffix(file, "/"+name) {
			return false
		}
		n, err := strconv.Atoi(m[2] + m[4])
		if err == nil && f.Line != nil && n != *f.Line && (f.LineEnd == nil || n < *f.Line || n > *f.LineEnd) {
			return false
		}
	}
	return true
}

// place is a file with a line, a file, or a line.
var place = lazyregexp.New(`([\pL\pN_@./\\-]*\pL[\pL\pN_]*)(?::|#l)(\d+)|([\pL\pN_@./\\-]*(?:[\pL\pN_]{2}\.\pL[\pL\pN_]*|[\pL\pN_]\.\pL[\pL\pN_]+))|\blines? (\d+)`)

// graveLines reports whether a line of lower-case text calls something a P0 or P1: one of a list or a table, a heading or a field.
func graveLines(text string) bool {
	for len(text) > 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if !slices.ContainsFunc(graveWords, func(w string) bool { return strings.Contains(line, w) }) {
			continue
		}
		if tag := graveTag.FindStringIndex(line); tag != nil && (listMarks.MatchString(line) || strings.ContainsRune("[(", []rune(strings.TrimSpace(line))[0])) && !denies.MatchString(line[:tag[0]]) && !isNone(line[tag[1]:]) &&
			slices.ContainsFunc(strings.Split(line[:tag[0]]+line[tag[1]:], "|"), tells) {
			return true
		}
		next, _, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), 1000)]), "\n") // what a line that ends in a colon is about
		cells := []string{line}
		if strings.Count(line, "|") > 1 {
			cells = strings.Split(line, "|")
		}
		over := sync.OnceValue(func() bool { return overList(line, text) }) // once for all cells of a line
		for _, cell := range cells {
			rest := strings.TrimSpace(cell[len(lineMarks.FindString(cell)):])
			if graveField.MatchString(rest) {
				return true
			}
			if graveEntry(cell, rest) || graveHeading.MatchString(rest) && over() {
				return true
			}
			if m := graveHead.FindStringSubmatch(rest); m != nil && tells(cmp.Or(strings.Trim(m[len(m)-1], around), next)) {
				return true
			}
		}
		if slices.ContainsFunc(cells, graveCell) && slices.ContainsFunc(cells, tells) {
			return true
		}
	}
	return false
}

// graveEntry reports whether an entry of a list begins or ends with a word for P0 or P1 and says what is the matter.
func graveEntry(line, rest string) bool {
	if !listMarks.MatchString(line) || denies.MatchString(rest) {
		return false
	}
	if m := graveOpening.FindStringSubmatch(rest); m != nil && !slices.Contains(notOne, m[1]) {
		return true
	}
	m := graveEnd.FindStringSubmatch(rest)
	return m != nil && tells(m[1])
}

// overList reports whether a line is a heading, or ends in a colon, and what follows on it is an entry of a list, or a heading below
// it, that says something and denies nothing; so does what stands below that heading. text is what comes behind the line.
func overList(line, text string) bool {
	depth := func(s string) int { return len(s) - len(strings.TrimLeft(s, "#")) }
	line = strings.TrimSpace(line)
	next, rest, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), 1000)]), "\n")
	below := depth(next) > depth(line)
	if strings.IndexAny(line, "#*_") != 0 && !strings.HasSuffix(line, ":") || !below && (depth(next) > 0 || !listMarks.MatchString(next)) {
		return false
	}
	says := func(line string) bool {
		entry := strings.TrimSpace(line[len(lineMarks.FindString(line)):])
		return tells(entry) && !nothingSaid.MatchString(entry)
	}
	under, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	return says(next) && (!below || under == "" || tells(under))
}

// graveCell reports whether a cell of a table is a word for P0 or P1 and no more.
func graveCell(cell string) bool {
	cell = cell[len(lineMarks.FindString(cell)):]
	return slices.Contains([]string{"p0", "p1", "critical", "blocker", "blocking", "severe"}, strings.Trim(cell, "[]()*_` \t"))
}

// isNone reports whether words say that there is none.
func isNone(words string) bool {
	words = strings.Trim(words, around+".")
	return words != "" && nobody.MatchString(words)
}

// tells reports whether words say anything but a severity, a number, or none.
func tells(words string) bool {
	words = strings.Trim(words, around)
	return !nobody.MatchString(words) && !severityCell.MatchString(words)
}

// undenied takes out of lower-case text what plainly says that there is no P0 or P1: a count of zero, an empty list, "no critical issue".
func undenied(text string) string {
	return denial.ReplaceAllString(none.ReplaceAllString(nothing.ReplaceAllString(text, "$3"), "$1"), "none")
}
