package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// ownWord is Redacted as a text itself may have it, or a spelling of that; spelledWord is a spelling.
	ownWord     = lazyregexp.New(`(\[REDACTED~*)\]`)
	spelledWord = lazyregexp.New(`(\[REDACTED~*)~\]`)
	// ownSign is what Visible writes for a hidden character, as a text itself may have it, or a spelling of that; spelledSign is a spelling.
	ownSign     = lazyregexp.New(`⟨(~*U\+[0-9A-F]{4,6}⟩)`)
	spelledSign = lazyregexp.New(`⟨~(~*U\+[0-9A-F]{4,6}⟩)`)
	// shownSign stands for a character, or for a byte.
	shownSign = lazyregexp.New(`⟨(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟩`)
	anySign   = lazyregexp.New(`⟨~*(U\+[0-9A-F]{4,6}⟩)`)
)

// Spelled is a text of a repository before it is masked, and before its hidden characters are made visible: where it has the word Redacted itself, that is spelled
// [REDACTED~], what is written like a hidden character is spelled ⟨~U+202E⟩, and what is written like a spelling has one sign more. So nobody can write what stands for
// something else, and no two texts are shown alike (threats.md T790, T806).
func Spelled(s string) string { return spell(spell(s, ownWord, "$1~]"), ownSign, "⟨~$1") }

// SpelledDiff is Spelled for the hunks of a diff. Names above them are masked by MaskPath.
func SpelledDiff(s string) string {
	at := strings.Index("\n"+s, "\n@@ ")
	if at < 0 {
		return s
	}
	return s[:at] + Spelled(s[at:])
}

// Unspelled is the text that Spelled made a spelling of.
func Unspelled(s string) string { return spell(spell(s, spelledWord, "$1]"), spelledSign, "⟨$1") }

// AnySpelling is a text with each spelling taken as what it stands for, as evidence is compared.
func AnySpelling(s string) string { return spell(spell(s, ownWord, Redacted), anySign, "⟨$1") }

// StandsFor is what a text has that stands for a character which is not shown as it is, such as ⟨U+202E⟩; empty when it has none.
func StandsFor(s string) string { return shownSign.FindString(s) }

func spell(s string, word *lazyregexp.Regexp, as string) string {
	if !strings.Contains(s, "[REDACTED") && !strings.Contains(s, "U+") {
		return s
	}
	return word.ReplaceAllString(s, as)
}
