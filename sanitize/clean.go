package sanitize

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// escapes are terminal escape sequences: CSI, then strings (OSC, DCS, SOS, PM, APC) with or without their end, then the
// two-byte kind. An unended string ends with its line, so that it cannot swallow the text after it.
var escapes = lazyregexp.New(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]?` +
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}\x{9e}\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})?` +
	`|\x1b[ -/]*[0-~]?`)

// clean does steps S1 and S2 of threats.md "Sanitization": valid UTF-8, plain line ends, no control bytes, nothing that is there and
// cannot be seen, full-width ASCII folded, NFC. Cleaning twice changes nothing.
func clean(s string) string {
	if plain(s) {
		return s
	}
	for range 4 {
		t := cleanOnce(s)
		if t == s {
			break
		}
		s = t
	}
	return s
}

// plain is the fast path: nothing but printable ASCII, newlines and tabs.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || (c < 0x20 && c != '\n' && c != '\t') {
			return false
		}
	}
	return true
}

func cleanOnce(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	s = escapes.ReplaceAllString(s, "")
	var b strings.Builder
	b.Grow(len(s))
	var prev rune
	for i, r := range s {
		out := cleanRune(r, prev, s[i:])
		if out >= 0 {
			b.WriteRune(out)
			prev = out
		}
	}
	return norm.NFC.String(b.String())
}

// cleanRune returns what stands for r after prev, or -1 when nothing does. rest is the text from r on.
func cleanRune(r, prev rune, rest string) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == 0x2028 || r == 0x2029 || r == 0x85:
		return '\n'
	case r < 0x20 || (r >= 0x7f && r < 0xa0):
		return -1
	case r < 0x7f:
		return r
	case selects(prev, rest):
		return r
	case Hidden(r) != "":
		return -1
	case r >= 0xff01 && r <= 0xff5e: // full-width ASCII, such as a full-width at sign
		return r - 0xfee0
	case r == 0xfe6b: // small commercial at
		return '@'
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// selects reports whether a text begins with a variation selector that is the ordinary way of writing a pictogram after prev: of a digit and the like only with the key around it.
func selects(prev rune, rest string) bool {
	if prev == '#' || prev == '*' || (prev >= '0' && prev <= '9') {
		return strings.HasPrefix(rest, "\ufe0f\u20e3")
	}
	return emoji(prev) && strings.HasPrefix(rest, "\ufe0f")
}

// emoji reports whether r may be a pictogram.
func emoji(r rune) bool {
	return r == 0xa9 || r == 0xae ||
		(r >= 0x203c && r <= 0x3299 && unicode.In(r, unicode.So, unicode.Sm, unicode.Po, unicode.Pd)) || r >= 0x1f000
}

// Hidden names the kind of character r is when people cannot see it and programs can; empty for all others
// (threats.md T40).
func Hidden(r rune) string {
	switch {
	case r < 0xa0:
		return ""
	case r == 0x200e || r == 0x200f || r == 0x061c || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069):
		return "bidirectional control"
	case r == 0x00ad:
		return "soft hyphen"
	case (r >= 0x200b && r <= 0x200d) || (r >= 0x2060 && r <= 0x2065) || r == 0xfeff || r == 0x180e || r == 0x034f || r == 0x2d7f || r == 0x1107f:
		return "zero-width character"
	case r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x17b4 || r == 0x17b5 || r == 0x2800 || r == 0x16fe4 || r == 0x1d159:
		return "blank filler"
	case r >= 0x206a && r <= 0x206f:
		return "deprecated format control"
	case r >= 0xe0000 && r <= 0xe0fff && !(r >= 0xe0100 && r <= 0xe01ef):
		return "tag character"
	case (r >= 0xfe00 && r <= 0xfe0f) || (r >= 0xe0100 && r <= 0xe01ef) || (r >= 0x180b && r <= 0x180f):
		return "variation selector"
	case r >= 0xfff9 && r <= 0xfffb:
		return "interlinear annotation"
	case (r >= 0xe000 && r <= 0xf8ff) || r >= 0xf0000:
		return "private use character"
	case (r >= 0xfdd0 && r <= 0xfdef) || r&0xfffe == 0xfffe:
		return "noncharacter"
	case unicode.Is(unicode.Cf, r):
		return "format control"
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return "ignorable character"
	}
	return ""
}
