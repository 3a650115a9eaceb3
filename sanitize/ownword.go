package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// ownWord is Redacted as a text itself may have it, or a spelling of that; spelledWord is a spelling.
	ownWord     = lazyregexp.New(`(\[REDACTED~*)\]`)
	spelledWord = lazyregexp.New(`(\[REDACTED~*)~\]`)
)

// Spelled is a text of a repository before it is masked: where it has the word Redacted itself, that is spelled [REDACTED~], and what is written like a spelling
// has one sign more. So nobody can write what stands for a hidden value, and no two texts are shown alike (threats.md T790).
func Spelled(s string) string { return spell(s, ownWord, "$1~]") }

// SpelledDiff is Spelled for the hunks of a diff. Names above them are masked by MaskPath.
func SpelledDiff(s string) string {
	at := strings.Index("\n"+s, "\n@@ ")
	if at < 0 {
		return s
	}
	return s[:at] + Spelled(s[at:])
}

// Unspelled is the text that Spelled made a spelling of.
func Unspelled(s string) string { return spell(s, spelledWord, "$1]") }

// AnySpelling is a text with each spelling of the word taken as the word, as evidence is compared.
func AnySpelling(s string) string { return spell(s, ownWord, Redacted) }

func spell(s string, word *lazyregexp.Regexp, as string) string {
	if !strings.Contains(s, "[REDACTED") {
		return s
	}
	return word.ReplaceAllString(s, as)
}
