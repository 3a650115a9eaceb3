package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/spelling"
)

// Visible makes hidden characters of inbound text visible, as ⟨U+202E⟩, and names what it found, sorted, such as
// "U+202E bidirectional control" (threats.md T40). Carriage returns before a newline, tabs and the selectors of ordinary
// pictograms stay. Doing it twice changes nothing.
func Visible(s string) (string, []string) {
	if plain(s) {
		return s, nil
	}
	s = spelling.Text(s)
	found := map[string]bool{}
	var b strings.Builder
	b.Grow(len(s))
	var prev rune
	for i, r := range s {
		kind := Hidden(r)
		switch {
		case r == '\n' || r == '\t' || (r == '\r' && strings.HasPrefix(s[i+1:], "\n")):
		case r < 0x20 || (r >= 0x7f && r < 0xa0):
			kind = "control character"
		case selects(prev, s[i:]):
			kind = ""
		case r == 0x200d && emoji(prev): // joins two pictograms into one
			if next, _ := utf8.DecodeRuneInString(s[i+len("\u200d"):]); next >= 0x2190 && emoji(next) {
				kind = ""
			}
		case r == 0x2028 || r == 0x2029:
			kind = "line separator"
		}
		if kind == "" {
			b.WriteRune(r)
			if r != 0xfe0f {
				prev = r
			}
			continue
		}
		found[fmt.Sprintf("U+%04X %s", r, kind)] = true
		fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		prev = 0
	}
	if len(found) == 0 {
		return b.String(), nil
	}
	names := make([]string, 0, len(found))
	for n := range found {
		names = append(names, n)
	}
	slices.Sort(names)
	return b.String(), names
}

// Line makes one line of text for receipts and the live view, at most limit characters long: secrets are taken out, hidden
// characters made visible. Of very long text only the beginning is looked at.
func Line(s string, limit int) string {
	if most := 64 * limit; len(s) > most {
		if blank := strings.LastIndexAny(s[:most], " \t\r\n"); blank > 0 {
			most = blank
		}
		s = s[:most]
	}
	s, _ = Visible(Redact(s))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		s = Beginning(s, len(string(r[:limit])))
	}
	return s
}

// Beginning is what fits of a text into so many bytes, and a sign where it was cut. A value that would be cut is left out: it may be one that only a later reader
// knows for a secret, when it is whole (threats.md T793).
func Beginning(s string, most int) string {
	if len(s) <= most {
		return s
	}
	sign := func(c byte) bool { return valueByte(c) || c == '=' }
	for most > 0 && (!utf8.RuneStart(s[most]) || sign(s[most]) && sign(s[most-1])) {
		most--
	}
	return strings.TrimRight(s[:most], " ") + "…"
}

// LastLine is Line of the end of a text, at most limit bytes long. A word that is cut is left out: it may be a value that only a later reader of the line
// knows for a secret.
func LastLine(s string, limit int) string {
	s, _ = Visible(Redact(s))
	if s = strings.Join(strings.Fields(s), " "); len(s) > limit {
		s = s[len(s)-limit-1:]
		s = "…" + s[strings.IndexByte(s+" ", ' '):]
	}
	return s
}

// Terminal makes text safe to print: what is left is printable, newline and tab. Control bytes and hidden characters
// are written as \x1b or \u202e, bytes that are no UTF-8 as \xff (threats.md T41).
func Terminal(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	var prev rune
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20 || (r >= 0x7f && r < 0xa0):
			fmt.Fprintf(&b, `\x%02x`, r)
		case selects(prev, s):
			b.WriteRune(r)
		case r == 0x2028 || r == 0x2029 || (Hidden(r) != "" && r <= 0xffff):
			fmt.Fprintf(&b, `\u%04x`, r)
		case Hidden(r) != "":
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteString(s[:n])
		}
		prev = r
		s = s[n:]
	}
	return b.String()
}
