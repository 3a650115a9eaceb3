package sanitize

import (
	"strings"

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
			out = append(out, c.words(n.s, start, more)...)
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
		start = n.kind == kindSoft || n.kind == kindHard || n.kind == kindCheck ||
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

// words splits one text into text, code and links. more says that another node follows on the same line.
func (c converter) words(s string, start, more bool) []inline {
	var out []inline
	text := func(t string) {
		if t != "" {
			out = append(out, inline{kind: kindText, s: t})
		}
	}
	code := func(t string) { out = append(out, inline{kind: kindSpan, s: t}) }
	if start {
		s = strings.TrimLeft(s, " \t")
		if n := orderEnd(s); n > 0 {
			code(s[:n])
			s = s[n:]
		}
	}
	done := 0
	for _, at := range activeWords(s) {
		word := s[at[0]:at[1]]
		word = word[:len(word)-len(trailing(word))]
		text(s[done:at[0]])
		url, ok := "", false
		if urlWord.MatchString(word) {
			url, ok = ownPage(word, c.policy.Repo)
		}
		if ok {
			out = append(out, inline{kind: kindLink, s: url, kids: []inline{{kind: kindText, s: url}}})
		} else {
			code(word)
		}
		done = at[0] + len(word)
	}
	s = s[done:]
	if more {
		if m := closing.FindString(s); m != "" {
			text(s[:len(s)-len(m)])
			code(strings.TrimSpace(m))
			s = m[len(strings.TrimRight(m, " \t")):]
		}
		if m := opening.FindString(s); m != "" {
			text(s[:len(s)-len(m)])
			code(m)
			s = ""
		}
	}
	text(s)
	return out
}

// wordEnds are the bytes that end a word for active.
const wordEnds = " \t\n\v\f\r<>\"`|\\"

// activeWords finds all matches of active. The expression is slow and its matches are words, or a closing word and its
// reference, so it sees only those that may be one.
func activeWords(s string) [][]int {
	var out [][]int
	before := 0 // where the word before this one begins
	for from := 0; from < len(s); {
		to := len(s)
		if n := strings.IndexAny(s[from:], wordEnds); n >= 0 {
			to = from + n
		}
		if to > from {
			if mayBeActive(s[from:to]) {
				start := from
				if closing.MatchString(s[before:from]) {
					start = before
				}
				find := mentions
				if start < from || !onlyMentions(s[from:to]) {
					find = func(word string) [][]int { return active.FindAllStringIndex(word, -1) }
				}
				for _, at := range find(s[start:to]) {
					out = append(out, []int{start + at[0], start + at[1]})
				}
			}
			before = from
		}
		from = to + 1
	}
	return out
}

// onlyMentions reports whether nothing but mentions can be active in a word. They are found without the expression: a text of
// short words with at signs is where it takes longest.
func onlyMentions(word string) bool {
	return !strings.ContainsAny(word, "#:") && !mayBeActive(strings.ReplaceAll(word, "@", "_"))
}

// mentions finds what the alternative for mentions of active matches in a word.
func mentions(word string) (out [][]int) {
	part := func(c byte, also string) bool { return alnum(c) || c == '_' || strings.IndexByte(also, c) >= 0 }
	done := 0
	for i := 0; i+1 < len(word); i++ {
		if word[i] != '@' || !alnum(word[i+1]) {
			continue
		}
		from, to := i, i+1
		for from > done && part(word[from-1], ".%+/-") {
			from--
		}
		for to < len(word) && part(word[to], "./@-") {
			to++
		}
		out = append(out, []int{from, to})
		done, i = to, to-1
	}
	return out
}

// mayBeActive is a quick refusal for ordinary words.
func mayBeActive(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '@', '#':
			return true
		case ':':
			if strings.HasPrefix(s[i:], "://") {
				return true
			}
		case '-':
			if i > 0 && s[i-1]|0x20 == 'h' {
				return true
			}
		case '.':
			if i > 0 && s[i-1]|0x20 == 'w' {
				return true
			}
		}
	}
	return false
}

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

// dropMarkers breaks copies of prloop's own marks and the names of bots. Broken, they are marks and names to nobody, whoever
// looks for them and however carelessly (threats.md T33, T06).
func dropMarkers(s string) string { return breakBots(markers.Replace(s)) }
