package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// diffWords are the words every full diff of git begins with. They never stand in a result, not even in a sentence.
	diffWords = lazyregexp.New(`diff\s+--(?:git|cc|combined)`)
	// diffPath is those words with a path after them: a diff, not talk about one.
	diffPath = lazyregexp.New(`diff\s+--(?:git|cc|combined)\s+["\w./]`)
	// diffInJSON is a diff written as one line of a JSON string, line ends escaped.
	diffInJSON = lazyregexp.New(`diff\s+--(?:git|cc|combined)\b(?:[^"\\]|\\[^u"]|\\u[0-9a-fA-F]{4}|\\")*`)
	quotes     = lazyregexp.New(`^ {0,3}(?:> ?)+`)
	hunkHead   = lazyregexp.New(`^@@+ (?:-[0-9]+(?:,[0-9]+)? ){1,8}\+[0-9]+(?:,[0-9]+)? @@`)
	diffHead   = lazyregexp.New(`^(?:diff --|index [0-9a-f]|--- |\+\+\+ |@@|\\ No newline|new file mode|deleted file mode|` +
		`old mode|new mode|similarity index|dissimilarity index|rename (?:from|to) |copy (?:from|to) |Binary files|GIT binary patch)`)
	fenceLine = lazyregexp.New("^(?:```+|~~~+)")
)

// maxQuotedChanges is how many changed lines in a row a code block may quote without a header (threats.md T32).
const maxQuotedChanges = 20

// redactDiffs replaces full diffs by DiffRedacted (threats.md T32): git's own headers, a pair of file
// headers before a hunk, a hunk header before three or more lines, and long runs of changed lines inside a code block.
// Fences stay. The prefix of a quote or list item stays too.
func redactDiffs(s string) string {
	if !mayHoldDiff(s) {
		return s
	}
	if strings.Contains(s, `\n`) {
		s = diffInJSON.ReplaceAllStringFunc(s, func(m string) string {
			if strings.Contains(m, `\n`) && !strings.Contains(m, "\n") {
				return DiffRedacted
			}
			return m
		})
	}
	lines := strings.Split(s, "\n")
	out := make([]string, 0, len(lines))
	fence := ""
	for i := 0; i < len(lines); {
		prefix, text := splitContainer(lines[i])
		if f := fenceRun(text); f != "" {
			fence = nextFence(fence, f, text)
			out = append(out, diffWords.ReplaceAllString(lines[i], DiffRedacted))
			i++
			continue
		}
		if talk := diffWords.FindStringIndex(text); talk != nil && strings.Trim(text[:talk[0]], "*_`~\"' ") != "" && !diffPath.MatchString(text) {
			out = append(out, prefix+diffWords.ReplaceAllString(text, DiffRedacted))
			i++
			continue
		}
		end := diffEnd(lines, i, text, fence != "")
		if end == i {
			out = append(out, lines[i])
			i++
			continue
		}
		if at := diffWords.FindStringIndex(text); at != nil && strings.Trim(text[:at[0]], "*_`~\"' ") != "" {
			prefix += text[:at[0]] // words before the diff stay
		}
		out = append(out, prefix+DiffRedacted+closingTicks(text))
		i = end
	}
	return strings.Join(out, "\n")
}

// mayHoldDiff is a quick refusal for the ordinary text, which holds no diff.
func mayHoldDiff(s string) bool {
	return strings.Contains(s, "@@") || strings.Contains(s, "--git") || strings.Contains(s, "--c") ||
		strings.Count(s, "\n+")+strings.Count(s, "\n-") > maxQuotedChanges || strings.Contains(s, "```") || strings.Contains(s, "~~~")
}

// closingTicks keeps the end of a code span that began before the diff words, so that the rest of a line is not
// swallowed by an open one.
func closingTicks(text string) string {
	if at := diffWords.FindStringIndex(text); at != nil && strings.Count(text[:at[0]], "`")%2 == 1 {
		return "`"
	}
	return ""
}

// splitContainer splits a line into what quotes and lists put before it and its own text.
func splitContainer(line string) (prefix, text string) {
	at := 0
	for at < len(line) {
		n := containerMarkAt(line[at:])
		if n == 0 {
			break
		}
		at += n
	}
	return line[:at], line[at:]
}

// containerMarkAt is the length of the mark s begins with: white space, a quote's, or a list item's with a space after it.
func containerMarkAt(s string) int {
	n := 0
	switch c := s[0]; {
	case c == ' ' || c == '\t' || c == '>':
		return 1
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(s) && s[n] == ' ' {
		return n + 1
	}
	return 0
}

// nextFence follows the state of code fences: the opening run, or empty outside.
func nextFence(open, run, text string) string {
	switch {
	case open == "":
		return run
	case run[0] == open[0] && len(run) >= len(open) && strings.TrimSpace(text[len(run):]) == "":
		return ""
	}
	return open
}

// diffEnd returns the index after the last line of the diff that begins at line i, or i when none does.
func diffEnd(lines []string, i int, text string, fenced bool) int {
	switch {
	case diffWords.MatchString(text):
		return diffTail(lines, i, fenced)
	case hunkHead.MatchString(text):
		n := 0
		for j := i + 1; j < len(lines) && j <= i+3 && changed(lines[j], indent(lines[i])); j++ {
			n++
		}
		if n >= 3 {
			return diffTail(lines, i, fenced)
		}
	case strings.HasPrefix(text, "--- ") && i+2 < len(lines):
		_, next := splitContainer(lines[i+1])
		_, hunk := splitContainer(lines[i+2])
		if strings.HasPrefix(next, "+++ ") && hunkHead.MatchString(hunk) {
			return diffTail(lines, i, fenced)
		}
	}
	if !fenced {
		return i
	}
	j := i
	for j < len(lines) && strings.HasPrefix(unquote(lines[j]), "+") || j < len(lines) && strings.HasPrefix(unquote(lines[j]), "-") {
		j++
	}
	if j-i > maxQuotedChanges {
		return j
	}
	return i
}

// diffTail follows a diff from its first line to its end: a fence, two lines that are no part of a diff, or outside a
// code block a blank line before such a line.
func diffTail(lines []string, i int, fenced bool) int {
	base, strange, end := indent(lines[i]), 0, i+1
	for j := i + 1; j < len(lines); j++ {
		text := unquote(lines[j])
		if fenceRun(text) != "" {
			break
		}
		if text == "" {
			if !fenced && (j+1 >= len(lines) || !changed(lines[j+1], base) && !diffHead.MatchString(unquote(lines[j+1]))) {
				break
			}
			continue
		}
		if changed(lines[j], base) || diffHead.MatchString(text) {
			strange, end = 0, j+1
			continue
		}
		if strange++; strange == 2 || !fenced {
			break
		}
	}
	return end
}

// changed reports whether a line could stand inside a hunk of a diff whose header is indented by base.
func changed(line string, base int) bool {
	text := unquote(line)
	return strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") || (text != "" && indent(line) > base)
}

// quoteMarks is the length of what quotes matches.
func quoteMarks(line string) int {
	if strings.IndexByte(line[:min(len(line), 4)], '>') < 0 {
		return 0
	}
	return len(quotes.FindString(line))
}

// fenceRun is what fenceLine matches, which is nothing on most lines.
func fenceRun(text string) string {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	return fenceLine.FindString(text)
}

// unquote is the line without quote marks and indentation.
func unquote(line string) string {
	return strings.TrimSpace(line[quoteMarks(line):])
}

// indent is how far a line is indented inside its quotes.
func indent(line string) int {
	line = line[quoteMarks(line):]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
