package sanitize

import (
	"sort"
	"strings"
)

// knownPlaces is how many places with a known secret are masked one by one; in a text with more no line is left.
const knownPlaces = 64

// MaskKnown puts Redacted in the place of every line, or run of lines, that gives a known secret away as Leaks finds it: also as
// hex or in base64, which no pattern knows. A line is masked whole, for what is secret of it stands in no one place. Every other
// line stays to the byte. Doing it twice changes nothing.
func MaskKnown(s string, p Policy) string {
	if !Leaks(s, p) {
		return s
	}
	lines := strings.Split(s, "\n")
	leaks := func(from, to int) bool { return Leaks(strings.Join(lines[from:to], "\n"), p) }
	for range knownPlaces {
		if !leaks(0, len(lines)) {
			return strings.Join(lines, "\n")
		}
		end := 1 + sort.Search(len(lines)-1, func(i int) bool { return leaks(0, i+1) })
		start := end - 1
		start -= sort.Search(start, func(i int) bool { return leaks(start-i, end) })
		for i := range lines[start:end] {
			lines[start+i] = Redacted
		}
	}
	for i := range lines {
		lines[i] = Redacted
	}
	return strings.Join(lines, "\n")
}

// MaskKnownDiff is MaskKnown for unified diffs: the first byte of each line stays.
func MaskKnownDiff(s string, p Policy) string {
	return maskDiff(s, func(text string) string { return MaskKnown(text, p) })
}
