package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/sanitize/secretrules"
)

// candidate is a line the rules could find anything in: a long word with a digit, which nearly all of them ask for.
var candidate = lazyregexp.New(`[0-9A-Za-z_+/=.~-]{10,}`)

// Bounds of the second pass. A rule runs over the whole of a text that holds one of its keywords, so a text with all of them would
// cost seconds for each 100 KB.
const (
	// deepLines is how many lines are read at a time.
	deepLines = 8
	// deepRules is how many rules may have a keyword in them. Ordinary text has a handful; where there are more, every word
	// that could be a secret is taken for one.
	deepRules = 7
	// shortRules is how many in a line of at most shortLine bytes, as one that names many services is.
	shortRules, shortLine = 24, 512
)

// redactDeep takes out what the second pass finds. Where too many of its rules would have to be tried, every candidate goes: fail closed.
func redactDeep(s string) string { return replaceSpans(s, deepSpansBy(s, deepLines, false)) }

// deepSecrets are the lines of the secrets that the rules find, at most limit of them; the sure ones are without those that say that they are made up, of no issuer's form. ok is false
// when they were not asked.
func deepSecrets(part string, limit int, sure bool) (pieces []string, ok bool) {
	if part == "" {
		return nil, true
	}
	found, ok := secretrules.Find(part, limit)
	for _, secret := range found {
		if sure && secret.Generic && MadeUp(secret.Text) {
			continue
		}
		for piece := range strings.SplitSeq(secret.Text, "\n") {
			if piece = strings.TrimSpace(piece); len(piece) >= 6 && piece != Redacted && !isPublic(piece) {
				pieces = append(pieces, piece)
			}
		}
	}
	return pieces, ok
}

// candidates are the lines that are likely to hold something, and their neighbours.
func candidates(lines []string) string {
	var b strings.Builder
	last := -1
	for i, line := range lines {
		if !likely(line) {
			continue
		}
		for j := max(last+1, i-1); j <= min(i+1, len(lines)-1); j++ {
			b.WriteString(lines[j])
			b.WriteByte('\n')
			last = j
		}
	}
	return b.String()
}

// likely reports whether a line holds a word of ten or more token characters with a digit in it.
func likely(line string) bool {
	run, digit := 0, false
	for i := range len(line) {
		c := line[i]
		if wordByte(c) || strings.IndexByte("+/=.~", c) >= 0 {
			run++
			digit = digit || (c >= '0' && c <= '9')
			if run >= 10 && digit {
				return true
			}
			continue
		}
		run, digit = 0, false
	}
	return false
}
