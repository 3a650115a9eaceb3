package gateway

import (
	"strings"
	"unicode/utf8"
)

// Some endpoints drop without a word what is over their context, and answer the rest: a model then approves a change that it never
// saw. Their count of what they read tells it. It is held against a bound that every honest tokenizer is above: tokens end where
// words end, so that a text has no fewer tokens than words and runs of punctuation that are no part of one. White space and repeated
// characters count for nothing, as a token may hold any length of them.

// longestWord is how many characters of one word, or of a script without spaces, a token may hold: ordinary tokens hold three to five.
const longestWord = 16

// leastContext is what every model can read, in tokens: a shorter request is taken for read.
const leastContext = 1024

// asks marks a value as put to the model, so that the words of its texts count. What the model itself said before does not:
// endpoints may leave thoughts out.
func asks(r rule) rule {
	return func(f *filter, n int) *fault {
		f.asking = !f.ofModel(n)
		defer func() { f.asking = false }()
		return r(f, n)
	}
}

// ofModel reports whether a message or an item of input is what the model said, thought or called.
func (f *filter) ofModel(n int) bool {
	if f.kind(n) != '{' {
		return false
	}
	if role := f.member(n, "role"); role != 0 && f.isText(role) {
		return string(f.name(role)) == "assistant"
	}
	kind := f.member(n, "type")
	return kind == 0 || !f.isText(kind) || !strings.HasSuffix(string(f.name(kind)), "_output")
}

// ask counts a text if it is put to the model.
func (f *filter) ask(text string) {
	if f.asking {
		f.words += countWords(text)
	}
}

// countWords is how many words a text has, and runs of punctuation that no tokenizer takes together with them. A long word counts once for
// each longestWord of its characters, without those that repeat the one before. Whatever is not ASCII is a part of a word.
func countWords(text string) (n int) {
	length, last := 0, rune(0)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case punctuation(r):
			for size < len(text) && punctuation(rune(text[size])) {
				size++
			}
			if last < utf8.RuneSelf && standsAlone(text[:size], text[size:]) {
				n++
			}
			length = 0
		case r < utf8.RuneSelf && !letterOrDigit(r):
			length = 0
		case r != last:
			if length%longestWord == 0 {
				n++
			}
			length++
		}
		text, last = text[size:], r
	}
	return n
}

// standsAlone reports whether a run of punctuation is a token of its own, or several: more than one character, or one that white space follows. Where a
// word follows, one may be its beginning (".name"). Some tokenizers have tokens for tags of HTML, for punctuation outside ASCII with what stands beside it,
// and for the end of a line with slashes behind it.
func standsAlone(run, rest string) bool {
	if strings.ContainsAny(run, "<>") || strings.Trim(run, "/") == "" || rest != "" && rest[0] >= utf8.RuneSelf {
		return false
	}
	return len(run) > 1 || rest == "" || rest[0] == ' ' || rest[0] >= '\t' && rest[0] <= '\r'
}

func letterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// punctuation reports whether a character of ASCII shows, and is part of no word.
func punctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !letterOrDigit(r)
}

// unreadBy is the *UnreadError of an answer whose endpoint says that it read less than the request surely has; nil of others, and
// where it says nothing. A quarter fewer tokens than countWords are believed, for tokenizers that now and then take two words for one.
func unreadBy(u *upstream, s spent, c *call) error {
	read := withCached(value(s.input), value(s.cached))
	least := c.words / 4 * 3
	if read == 0 || least < leastContext || read >= least {
		return nil
	}
	return &UnreadError{Upstream: u.Name, Read: read, Least: least}
}

// withCached is how many tokens were read. What a cache held is a part of input; an endpoint that says of more than that counts it apart.
func withCached(input, cached int) int {
	if cached > input {
		return input + cached
	}
	return input
}
