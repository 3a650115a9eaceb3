package pushpolicy

import (
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// A scanner tells whether lines end what they begin: brackets, comments, texts. It knows the plain forms that languages have in common,
// and takes all else for unbalanced.
type scanner struct {
	*language
	// end is what ends the comment or text that a line begins in.
	end string
	// open are the brackets to be closed.
	open string
	odd  bool
}

var (
	// odd matches what languages read in ways of their own, wherever it stands: a line that goes on, an escaped quote or letter, the end
	// of PHP, the beginning of a raw text or of one up to a word, and blocks that end with a word.
	odd = lazyregexp.New(`\\$|\\["'` + "`" + `u]|\?>|<\?|<<[-~<]?["'\w]|[#@]\$?"|R"[^"\s,;)]*\(|%[qQwWiI]?[^\w\s"'+.,#):%-]|\?["']|^\s*end\b|\bend\s*$`)
	// token matches what may begin or end something.
	token = lazyregexp.New(`"""|'''|"[^"]*"|'[^']*'|/\*|//|/|#|["'` + "`" + `(){}\[\]]`)
)

// read goes on with a line.
func (s *scanner) read(text string) {
	s.odd = s.odd || odd.MatchString(text)
	for rest := text; ; {
		if s.end != "" {
			within, after, found := strings.Cut(rest, s.end)
			s.odd = s.odd || s.end == "*/" && strings.Contains(within, "/*") // some languages nest them
			if !found {
				return
			}
			rest, s.end = after, ""
		}
		at := token.FindStringIndex(rest)
		if at == nil {
			return
		}
		t := rest[at[0]:at[1]]
		before := text[:len(text)-len(rest)+at[0]]
		rest = rest[at[1]:]
		slashes := slices.ContainsFunc(s.comments, func(c string) bool { return strings.HasPrefix(c, "//") })
		switch {
		case t == "//" && slashes:
			return
		case t == "#" && slices.Contains(s.comments, "#") && !strings.HasPrefix(rest, "["):
			s.odd = s.odd || strings.TrimRight(before, " \t") == before && before != ""
			return
		case t == "/*" && slashes:
			s.end = "*/"
		case t == `"""`, t == "'''", t == "`":
			s.end = t
		case t == "/":
			s.odd = s.odd || slashes // of a regular expression
		case t == "(", t == "[", t == "{":
			s.open += map[string]string{"(": ")", "[": "]", "{": "}"}[t]
		case t == ")", t == "]", t == "}":
			var closed bool
			s.open, closed = strings.CutSuffix(s.open, t)
			s.odd = s.odd || !closed
		case len(t) == 1 && t != "#": // a quote with no other in its line
			s.odd = true
		}
	}
}

// balanced reports that nothing is open.
func (s *scanner) balanced() bool { return !s.odd && s.end == "" && s.open == "" }
