package sanitize

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// basicHere is a value of HTTP's basic authentication.
var basicHere = lazyregexp.New(`(?i)\bbasic\s{1,3}([0-9A-Za-z+/_-]{12,}={0,2})`)

// basicSpans are the values that stand behind "Basic" and are a name and a password in base64, wherever they stand: in it words look random, and random values like
// words.
func basicSpans(s, lower string) (out []Span) {
	inLines(s, lower, []string{"basic"}, func(line string, at int) {
		for _, m := range basicHere.FindAllStringSubmatchIndex(line, -1) {
			if nameAndPassword(line[m[2]:m[3]]) {
				out = append(out, Span{Start: at + m[2], End: at + m[3]})
			}
		}
	})
	return out
}

// nameAndPassword reports whether a value is a name and a password in base64. A password without a digit or of less than eight signs is one of documentation.
func nameAndPassword(value string) bool {
	value = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(value, "="))
	text, err := base64.RawStdEncoding.DecodeString(value)
	_, password, pair := strings.Cut(string(text), ":")
	if err != nil || !pair || !utf8.Valid(text) || strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	return len(password) >= 8 && hasDigit(password) && drawn(password) >= minDrawn && !reference.MatchString(password)
}
