// Package spelling writes names and text of a repository, which are bytes, as text that JSON, prompts and reports can carry
// (decision 33). A name is spelled so that it can be read back exactly: inside prloop a name is bytes wherever it is looked
// up in git or on disk, and a spelling in every shape of package review. Text keeps its lines and columns; bytes that are
// no UTF-8 are written by their number, the same way everywhere, so that what a reviewer quotes can be compared
// with what it was shown.
package spelling

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name spells a file name. Most names are spelled as they are. One that is not UTF-8, or holds a quote, a backslash, a
// control or invisible character, or would be trimmed or taken for a drive, is quoted as git quotes it: in double quotes,
// with \n, \t, \", \\ and their like, and \ooo for other bytes. No two names have the same spelling.
func Name(name string) string {
	if plain(name) {
		return name
	}
	return quoted(name, visible)
}

// Code spells a file name as code, for sentences that are read as Markdown: signs in it are its own.
func Code(name string) string { return Span(Name(name)) }

// Span writes a text of one line as code, between more backquotes than it has in a row.
func Span(text string) string {
	ends := "`"
	for strings.Contains(text, ends) {
		ends += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ends + text + ends
}

// Quoted spells a file name in double quotes and in ASCII alone, so that nothing that folds or composes characters makes another name of it.
func Quoted(name string) string { return quoted(name, func(rune) bool { return false }) }

// quoted is the quoted form of a name, in which characters above ASCII that keep accepts stand as they are.
func quoted(name string, keep func(rune) bool) string {
	var b strings.Builder
	b.Grow(len(name) + 8)
	b.WriteByte('"')
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r >= utf8.RuneSelf && keep(r) {
			b.WriteString(name[i : i+size])
			i += size
			continue
		}
		for ; size > 0; size-- {
			quote(&b, name[i])
			i++
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escapes are git's short forms, by byte.
var escapes = map[byte]byte{'\a': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}

func quote(b *strings.Builder, c byte) {
	switch short, ok := escapes[c]; {
	case ok:
		b.WriteByte('\\')
		b.WriteByte(short)
	case c < ' ' || c >= 0x7f:
		fmt.Fprintf(b, `\%03o`, c)
	default:
		b.WriteByte(c)
	}
}

// plain reports whether a name is its own spelling.
func plain(name string) bool {
	if name != strings.TrimSpace(name) || len(name) > 1 && name[1] == ':' {
		return false
	}
	for i, r := range name {
		if r == utf8.RuneError && !strings.HasPrefix(name[i:], "\uFFFD") {
			return false
		}
		if r == '"' || r == '\\' || r < ' ' || r == 0x7f || r >= utf8.RuneSelf && !visible(r) {
			return false
		}
	}
	return true
}

// visible reports whether a character above ASCII is one that people see, and that stands for itself: not the one that
// replaces what could not be read.
func visible(r rune) bool {
	if r == brailleBlank || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
		return false // nobody sees them, though they are letters and marks
	}
	return r != utf8.RuneError && (unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) || unicode.Is(unicode.M, r))
}

// brailleBlank is drawn as a blank.
const brailleBlank = 0x2800

// Raw gives the name back that a spelling stands for. What is no quoted spelling stands for itself.
func Raw(spelled string) string {
	if name, ok := unquote(spelled); ok {
		return name
	}
	return spelled
}

// unquote reads the quoted form; ok is false when s is not one.
func unquote(s string) (name string, ok bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	var b strings.Builder
	for s = s[1 : len(s)-1]; s != ""; {
		c := s[0]
		if c == '"' {
			return "", false
		}
		if c != '\\' {
			b.WriteByte(c)
			s = s[1:]
			continue
		}
		n := 2
		switch {
		case len(s) < 2:
			return "", false
		case s[1] >= '0' && s[1] <= '3':
			if len(s) < 4 || !octal(s[2]) || !octal(s[3]) {
				return "", false
			}
			b.WriteByte((s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0'))
			n = 4
		default:
			long, known := byte(0), false
			for raw, short := range escapes {
				if short == s[1] {
					long, known = raw, true
				}
			}
			if !known {
				return "", false
			}
			b.WriteByte(long)
		}
		s = s[n:]
	}
	return b.String(), true
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// Text spells text: each byte that is no UTF-8 is written as ⟨0xE9⟩, and so is NUL, which no protocol of agents takes. Two texts without what Claims tells of have never
// one spelling.
func Text(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 64)
	for i, r := range s {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// spelled is how long the spelling of a byte is with which a text begins; 0 when it begins with none.
func spelled(s string) int {
	const open, shut = "⟨0x", "⟩"
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }
	if n := len(open) + 2; strings.HasPrefix(s, open) && len(s) > n && hex(s[n-2]) && hex(s[n-1]) && strings.HasPrefix(s[n:], shut) {
		return n + len(shut)
	}
	return 0
}

// Claims reports whether text itself holds what Text writes for a byte.
func Claims(s string) bool { return has(s, func(string) bool { return true }) }

// HasRun reports whether a spelled text has two such bytes in a row.
func HasRun(text string) bool {
	return has(text, func(behind string) bool { return spelled(behind) > 0 })
}

// has reports whether a text holds the spelling of a byte behind which holds what next asks for.
func has(s string, next func(behind string) bool) bool {
	for i := strings.IndexByte(s, first); i >= 0; i = strings.IndexByte(s, first) {
		s = s[i:]
		if n := spelled(s); n > 0 && next(s[n:]) {
			return true
		}
		s = s[1:]
	}
	return false
}

// first is the first byte of ⟨.
const first = 0xe2

// Merged is a spelled text with one U+FFFD for each run of such bytes, or of those that somebody else has replaced: encoding/json writes one for each.
func Merged(text string) string {
	if !strings.Contains(text, "\uFFFD") && !Claims(text) {
		return text
	}
	var b strings.Builder
	run := false
	for i := 0; i < len(text); {
		n := spelled(text[i:])
		if n == 0 && strings.HasPrefix(text[i:], "\uFFFD") {
			n = len("\uFFFD")
		}
		switch {
		case n == 0:
			b.WriteByte(text[i])
		case !run:
			b.WriteString("\uFFFD")
		}
		run = n > 0
		i += max(n, 1)
	}
	return b.String()
}
