package pushpolicy

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	comments = lazyregexp.New(`/\*.*?\*/`)
	blanks   = lazyregexp.New(`\s+`)
	around   = lazyregexp.New(` ?([.()\[\]{}@#:?;]) ?`)
	// member is x['y'] and x?.y, qualified an annotation by its whole name, typed what a type stands behind.
	member    = lazyregexp.New(`\?\.|\[["'](\w+)["']\]`)
	qualified = lazyregexp.New(`(@)(?:\w+\.)+|(^|\s|;)self\.(skip\b)`)
	typed     = lazyregexp.New(`(\w):[\w.\[\], |]+=`)
	// escaped is a letter of a name as JavaScript, C# and Java may write it.
	escaped = lazyregexp.New(`\\u+(?:([0-9a-fA-F]{4})|\{0*([0-9a-fA-F]{2,4})\})`)
)

// letters are a line with the letters that it means: Python takes compatible ones for the same, and other languages know escapes of them.
func letters(line string) string {
	return norm.NFKC.String(escaped.ReplaceAllStringFunc(line, func(m string) string {
		code, err := strconv.ParseUint(strings.Trim(m, `\u{}`), 16, 32)
		if r := rune(code); err == nil && r < utf8.RuneSelf && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return string(r)
		}
		return m
	}))
}

// readings are a line as it stands, and as those read it for whom blanks, comments, other letters and longer spellings make no difference; each part behind a semicolon is a line of its own too,
// as far from the left as all of it (threats.md T831).
func readings(line string) []string {
	plain := blanks.ReplaceAllString(comments.ReplaceAllString(letters(line), " "), " ")
	if strings.HasPrefix(plain, " ") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") { // a comment began it
		plain = plain[1:]
	}
	tight := indented(around.ReplaceAllString(plain, "$1"), plain)
	short := member.ReplaceAllStringFunc(tight, func(m string) string { return "." + strings.Trim(m, `?.[]"'`) })
	short = typed.ReplaceAllString(qualified.ReplaceAllString(short, "$1$2$3"), "$1=")
	all := []string{line}
	for _, reading := range []string{plain, tight, short} {
		if reading == all[len(all)-1] {
			continue
		}
		all = append(all, reading)
		for rest := reading; ; {
			before, after, more := strings.Cut(rest, ";")
			if !more || strings.TrimSpace(after) == "" || odd(before) { // it stands in a text
				break
			}
			part, _, ended := strings.Cut(after, ";")
			part = indented(strings.TrimSpace(part), plain)
			if all = append(all, part); ended {
				all = append(all, part+";")
			}
			rest = after
		}
	}
	return all
}

// odd reports that a quote is left open.
func odd(text string) bool {
	return strings.Count(text, `"`)%2 != 0 || strings.Count(text, "'")%2 != 0 || strings.Count(text, "`")%2 != 0
}

// indented puts a blank before a text where another begins with one.
func indented(text, as string) string {
	if strings.HasPrefix(as, " ") && !strings.HasPrefix(text, " ") {
		return " " + text
	}
	return text
}

// finds is what a pattern matches in a line, however that is spelled.
func finds(pattern *lazyregexp.Regexp, line string) (what string, found bool) {
	for _, reading := range readings(line) {
		if pattern.MatchString(reading) {
			return strings.TrimSpace(pattern.FindString(reading)), true
		}
	}
	return "", false
}
