package evidence

import (
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lineends"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/sanitize"
)

// Reviewers may leave out signs that nobody sees, also where they are shown a mark for each. Their findings are read without these once nothing else tells them (threats.md T902).
// What is held against a finding is not: code with such a sign in it is other code.

// seen is a text without such signs. What ends a line for some is a blank.
func seen(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case lineends.Is(r):
			return ' '
		case unicode.IsControl(r), sanitize.Hidden(r) != "":
			return -1
		}
		return r
	}, spelling.Text(s))
}

// asSeen is the file without such signs.
func (f File) asSeen() File {
	if f.text == nil {
		return f
	}
	if f.text.seen == nil {
		is := f
		if text := seen(f.text.text); text != f.text.text {
			is.text, is.folded = &source{text: text}, Fold(text)
		}
		f.text.seen = &is
	}
	return *f.text.seen
}

// reads reports whether a quote that says something stands in a file as it is seen. head is true of the head version.
func (s *search) reads(f File, quote string, head bool) bool {
	quote = seen(quote)
	return !masked(quote) && strings.ContainsFunc(quote, isWord) && s.copied(fileLines(f.asSeen().text, head), quote)
}
