package sanitize

import (
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// active is everything GitHub turns into something: addresses, closing words with their reference, mentions (and
	// owner@commit, mail addresses, package@version), references to issues. Neighbours belong to the match, so that what
	// becomes code reads as one word.
	active = lazyregexp.New(`(?i)(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>"\x60|\\]+` +
		`|\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?[ \t]+(?:(?:[\w.-]+/)?[\w.-]*#[0-9]+|gh-[0-9]+|https?://[^\s<>"\x60|\\]+)` +
		`|[\w.%+/-]*@[a-z0-9][\w./@-]*` +
		`|(?:[\w.-]+/)*[\w.-]*#[0-9]+` +
		`|\bgh-[0-9]+`)
	// closing is a closing word before something that is no text, such as a link.
	closing = lazyregexp.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?[ \t]*$`)
	// opening is the beginning of a mention or address whose rest is in the next node.
	opening = lazyregexp.New(`(?i)(?:@|[a-z][a-z0-9+.-]*://|www\.)$`)
	urlWord = lazyregexp.New(`(?i)^(?:[a-z][a-z0-9+.-]{1,20}://|www\.)`)
)

// neutralise turns active words of text nodes into code spans (threats.md S8). Within code GitHub looks for
// nothing. start says that the first node begins a line.
func (c converter) neutralise(in []inline, start bool) []inline {
	out := make([]inline, 0, len(in))
	for i, n := range in {
		switch n.kind {
		case kindText:
			more := i+1 < len(in) && in[i+1].kind != kindSoft && in[i+1].kind != kindHard
			out = c.words(out, n.s, start, more)
		case kindLink:
			// Inside a link nothing fires, and the text of a bare address must stay what it is.
			if flatText(n.kids) != n.s {
				n.kids = c.neutralise(n.kids, start)
				n.kids = flatLinks(n.kids)
			}
			out = append(out, n)
		default:
			n.kids = c.neutralise(n.kids, start)
			out = append(out, n)
		}
		start = n.kind == kindSoft || n.kind == kindHard ||
			start && n.kind == kindText && strings.TrimSpace(n.s) == ""
	}
	return join(out)
}

// flatLinks replaces links inside a link by their text.
func flatLinks(in []inline) []inline {
	var out []inline
	for _, n := range in {
		if n.kind == kindLink {
			out = append(out, inline{kind: kindSpan, s: n.s})
			continue
		}
		n.kids = flatLinks(n.kids)
		out = append(out, n)
	}
	return join(out)
}

// words splits one text into text, code and links, and appends them. more says that another node follows on the same line.
func (c converter) words(out []inline, s string, start, more bool) []inline {
	text := func(t string) {
		if t != "" {
			out = append(out, inline{kind: kindText, s: t})
		}
	}
	code := func(t string) { out = append(out, inline{kind: kindSpan, s: breakAnywhere(t)}) }
	if start {
		s = strings.TrimLeft(s, " \t")
		if n := orderEnd(s); n > 0 {
			code(s[:n])
			s = s[n:]
		}
	}
	done := 0
	activeWords(s, func(from, to int) {
		word := s[from:to]
		word = word[:len(word)-len(trailing(word))]
		text(s[done:from])
		url, ok := "", false
		if urlWord.MatchString(word) {
			url, ok = c.page(word)
		}
		if ok {
			out = append(out, inline{kind: kindLink, s: url, kids: []inline{{kind: kindText, s: url}}})
		} else {
			code(word)
		}
		done = from + len(word)
	})
	s = s[done:]
	if more {
		if m := closingWord(s); m != "" {
			text(s[:len(s)-len(m)])
			code(strings.TrimSpace(m))
			s = m[len(strings.TrimRight(m, " \t")):]
		}
		if m := openingMark(s); m != "" {
			text(s[:len(s)-len(m)])
			code(m)
			s = ""
		}
	}
	text(s)
	return out
}

// closingWord is what closing matches at the end of s. The expression is tried only where one of its words may end.
func closingWord(s string) string {
	word := strings.TrimSuffix(strings.TrimRight(s, " \t"), ":")
	if word == "" || word[len(word)-1] < utf8.RuneSelf && strings.IndexByte("desxDESX", word[len(word)-1]) < 0 {
		return ""
	}
	return closing.FindString(s)
}

// openingMark is what opening matches at the end of s.
func openingMark(s string) string {
	if s == "" || strings.IndexByte("@/.", s[len(s)-1]) < 0 {
		return ""
	}
	return opening.FindString(s)
}

// wordEnd reports whether c ends a word for active.
func wordEnd(c byte) bool {
	return c >= '\t' && c <= '\r' || c == ' ' || c == '<' || c == '>' || c == '"' || c == '`' || c == '|' || c == '\\'
}

// activeWords visits all matches of active. The expression is slow and its matches are words, or a closing word and its
// reference, so it sees only those that may be one.
func activeWords(s string, visit func(from, to int)) {
	before, done := 0, 0 // where the word before this one begins, and where the last match ends
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && !wordEnd(s[to]) {
			to++
		}
		if to > from {
			if m := marksOf(s[from:to]); m != 0 {
				start := from
				if at := from - len(closingWord(s[before:from])); at >= done {
					start = at
				}
				find := matches
				switch {
				case start < from:
				case m == mentionMark:
					find = mentions
				case m == numberMark:
					find = numbers
				}
				find(s[start:to], func(first, end int) {
					done = start + end
					visit(start+first, done)
				})
			}
			before = from
		}
		from = to + 1
	}
}

// matches visits what active matches.
func matches(s string, visit func(from, to int)) {
	for _, at := range active.FindAllStringIndex(s, -1) {
		visit(at[0], at[1])
	}
}

// mentions visits what the alternative for mentions of active matches in a word in which nothing else can be active. A text of
// short words with at signs is where the expression takes longest, and one of words with number signs comes next.
func mentions(word string, visit func(from, to int)) {
	done := 0
	for i := 0; i+1 < len(word); i++ {
		if word[i] != '@' || !alnum(word[i+1]) {
			continue
		}
		from, to := i, i+1
		for from > done && partOf(word[from-1], "_.%+/-") {
			from--
		}
		for to < len(word) && partOf(word[to], "_./@-") {
			to++
		}
		visit(from, to)
		done, i = to, to-1
	}
}

// numbers visits what the alternative for references of active matches in a word in which nothing else can be active.
func numbers(word string, visit func(from, to int)) {
	done := 0
	for i := 0; i+1 < len(word); i++ {
		if word[i] != '#' || word[i+1] < '0' || word[i+1] > '9' {
			continue
		}
		from, to := i, i+1
		for from > done && (partOf(word[from-1], "_.-") || word[from-1] == '/' && from-1 > done && partOf(word[from-2], "_.-")) {
			from--
		}
		for to < len(word) && word[to] >= '0' && word[to] <= '9' {
			to++
		}
		visit(from, to)
		done, i = to, to-1
	}
}

// partOf reports whether c is a letter or digit of ASCII, or one of also.
func partOf(c byte, also string) bool { return alnum(c) || strings.IndexByte(also, c) >= 0 }

// What a word holds that may make it active.
const (
	mentionMark = 1 << iota
	numberMark
	otherMark
)

// marksOf are the marks of a word, 0 for the ordinary one. What is not ASCII is otherMark beside another: two letters fold to ASCII's.
func marksOf(s string) (marks int) {
	wide := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '@':
			marks |= mentionMark
		case c == '#':
			marks |= numberMark
		case c == ':' && strings.HasPrefix(s[i:], "://"), c == '-' && i > 0 && s[i-1]|0x20 == 'h', c == '.' && i > 0 && s[i-1]|0x20 == 'w':
			marks |= otherMark
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	if wide && marks != 0 {
		marks |= otherMark
	}
	return marks
}

// mayBeActive is a quick refusal for ordinary text.
func mayBeActive(s string) bool { return marksOf(s) != 0 }

// trailing is the punctuation after a word that belongs to the sentence, not to the word.
func trailing(word string) string {
	n, open, shut := len(word), strings.Count(word, "("), strings.Count(word, ")")
	url := strings.Contains(word, "://")
	for n > 1 {
		switch c := word[n-1]; {
		case c == ')' && open < shut:
			shut--
		case c == '/' && url, strings.IndexByte(".,;:!?'*~]}-/", c) < 0:
			return word[n:]
		}
		n--
	}
	return word[n:]
}

// markers are copies of prloop's own marks.
var markers = strings.NewReplacer(
	markWord, "pr-review-loop marker",
	"code-review-agent:review_id", "code-review-agent review_id",
	"prloop v1 kid=", "prloop-v1 kid=",
)

// dropMarkers breaks copies of prloop's own marks, and outside of addresses what bots look for anywhere. Broken, they are marks and orders
// to nobody, whoever looks for them and however carelessly (threats.md T33, T06).
func dropMarkers(s string) string { return breakAll(thumbs.Replace(markers.Replace(s)), true) }

// inert is dropMarkers for code, in which no address becomes a link.
func inert(s string) string { return breakAnywhere(thumbs.Replace(markers.Replace(s))) }
