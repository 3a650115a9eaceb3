package sanitize

import (
	"strings"
	"unicode/utf8"
)

// view is a text as people see it: without hidden characters, control bytes and escape sequences of terminals.
type view struct {
	raw, text string
	// places tell where each byte of text stands in raw; nil when they are the same.
	places []int32
}

// see makes a view. A line end stays one, and nothing else becomes one.
func see(s string) view {
	if plain(s) {
		return view{raw: s, text: s}
	}
	var b strings.Builder
	b.Grow(len(s))
	places := make([]int32, 0, len(s))
	skip := escapes.FindAllStringIndex(s, -1)
	var prev rune
	for i, r := range s {
		for len(skip) > 0 && skip[0][1] <= i {
			skip = skip[1:]
		}
		if len(skip) > 0 && i >= skip[0][0] {
			continue
		}
		c := cleanRune(r, prev, s[i:])
		if c < 0 {
			continue
		}
		prev = c
		switch {
		case c == '\n' && r != '\n':
			c = ' '
		case c == '\u212a': // the sign of the kelvin is a K
			c = 'K'
		}
		n, _ := b.WriteRune(c)
		for range n {
			places = append(places, int32(i))
		}
	}
	v := view{s, b.String(), places}
	if v.text == s {
		v.places = nil
	}
	return v
}

// same reports whether nothing is hidden in the text.
func (v view) same() bool { return v.places == nil && v.text == v.raw }

// inRaw gives spans of the view their places in the text, with what is hidden in them.
func (v view) inRaw(spans []Span) []Span {
	if v.same() {
		return spans
	}
	out := make([]Span, len(spans))
	for i, p := range spans {
		last := int(v.places[p.End-1])
		_, n := utf8.DecodeRuneInString(v.raw[last:])
		out[i] = Span{int(v.places[p.Start]), last + n, p.More}
	}
	return out
}
