// Package lineends says where a line ends for anybody who reads it: git ends one at a line feed alone, and interpreters, package managers and editors know more signs
// (threats.md T726). It says too how much a line holds.
package lineends

import "strings"

// Is reports whether some reader of a file ends a line at r. Of these git knows the line feed alone.
func Is(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// Text is a line of git's without what ends it: a return before its line feed, as many files have it, is no sign of its own.
func Text(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// Split cuts a line of git's at every other sign that ends a line.
func Split(line string) []string {
	line = Text(line)
	if !strings.ContainsFunc(line, Is) {
		return []string{line}
	}
	var parts []string
	for {
		i := strings.IndexFunc(line, Is)
		if i < 0 {
			return append(parts, line)
		}
		parts = append(parts, line[:i])
		line = strings.TrimLeftFunc(line[i:], Is)
	}
}

// perLine is how many bytes of a line count as another one: code may stand in one line without any sign that ends it.
const perLine = 200

// Size is how many lines a line of git's counts for where the size of a change decides something: one, one for each other sign in it that ends a line, and one for each
// 200 bytes (threats.md T784).
func Size(line string) int {
	line = Text(line)
	n := 1 + len(line)/perLine
	for _, r := range line {
		if Is(r) {
			n++
		}
	}
	return n
}
