package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// An object of JSON may itself be a text in quotes, as kubectl keeps in an annotation what was applied (threats.md T662).

// quotedBegin is where such a text begins, up to what stands first in its braces: a quote that is escaped, or one that does not end the text.
var quotedBegin = lazyregexp.New("(?:^|[^\\\\\"'`])([\"'`])(?:\\\\?[\\s\\[]|\\\\[nrt])*\\{\\s*(?:\\\\+[\"'nrt\\n]|[\"'])")

// blockBegin is where such a text begins in a block of YAML. Its group is how deep the lines of the block stand.
var blockBegin = lazyregexp.New(`[:-][ \t]+[|>][-+0-9]{0,2}[ \t\r]*\n([ \t]+)[\[{]`)

// quotesDeep is how many texts in quotes are read within each other: as they are, and once more as the text of another file.
const quotesDeep = 2

// quotedText is what a text in quotes says. places tell where each of its bytes stands in the text around it, and where it ends.
type quotedText struct {
	text   string
	places []int
}

// quotedObjects are the texts in quotes that begin as an object of JSON does. One that only seems to, with a quote that ends another, hides none that begins in it.
func quotedObjects(s string) (out []quotedText) {
	for at := 0; ; {
		m := quotedBegin.FindStringSubmatchIndex(s[at:])
		if m == nil {
			return out
		}
		begin := at + m[3]
		out = append(out, unquoted(s, begin, strings.Contains(s[begin:at+m[1]], `\`)))
		at = begin
	}
}

// unquoted is what the text says whose quote stands before a place, up to its closing quote, or the end. White space at the end of a line is a blank, as everywhere in JSON.
func unquoted(s string, at int, escaped bool) quotedText {
	var b strings.Builder
	var places []int
	add := func(c byte) {
		b.WriteByte(c)
		places = append(places, at)
	}
	for quote := s[at-1]; at < len(s); {
		c, next, n := s[at], byte(0), 1
		if at+1 < len(s) {
			next = s[at+1]
		}
		switch {
		case escaped && c == '\\' && strings.IndexByte("\"'`\\/", next) >= 0, c == quote && c == '\'' && next == c:
			add(next)
			n = 2
		case escaped && c == '\\' && strings.IndexByte("nrt", next) >= 0:
			add(' ')
			n = 2
		case c == quote:
			return quotedText{b.String(), append(places, at)}
		case escaped && c == '\\' && next == '\n': // the line goes on below
		case c == '\n':
			add(' ')
			n += len(s[at:]) - len(strings.TrimLeft(s[at:], " \t\r\n")) - 1
		default:
			add(c)
		}
		at += n
	}
	return quotedText{b.String(), append(places, at)}
}

// blockObjects are the texts in blocks of YAML that begin as an object of JSON does, each in one line: where it is folded makes no difference.
func blockObjects(s string) (out []quotedText) {
	for at := 0; ; {
		m := blockBegin.FindStringSubmatchIndex(s[at:])
		if m == nil {
			return out
		}
		begin := at + m[3]
		at = begin
		for line := range strings.SplitAfterSeq(s[begin:], "\n") {
			text := strings.TrimLeft(line, " \t")
			if at > begin && strings.TrimSpace(text) != "" && len(line)-len(text) < m[3]-m[2] {
				break
			}
			at += len(line)
		}
		q := quotedText{text: strings.NewReplacer("\n", " ", "\r", " ").Replace(s[begin:at])}
		for i := begin; i <= at; i++ {
			q.places = append(q.places, i)
		}
		out = append(out, q)
	}
}
