package report

import (
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var ownTags = lazyregexp.New(`(?i)(\\*)<(/?(?:details|summary)\b|!--)`)

// disarm escapes the tags a template uses, and comments, unless they are escaped already. It does so in code spans too,
// where it costs a visible backslash: telling where a span ends is the parser's business, and a mistake would let a
// text close the template's tags.
func disarm(s string) string {
	return ownTags.ReplaceAllStringFunc(s, func(tag string) string {
		if slashes := strings.IndexByte(tag, '<'); slashes%2 == 0 {
			return tag[:slashes] + `\` + tag[slashes:]
		}
		return tag
	})
}

// fold makes text one line.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.Join(strings.Fields(s), " ")
}

// inline is one line of Markdown.
func inline(s string) string { return disarm(fold(s)) }

// word is one line fit for a code span between separators.
func word(s string) string {
	return strings.TrimSpace(strings.NewReplacer("`", "'", "|", "/", "·", "-").Replace(fold(s)))
}

// block keeps lines, without control characters, trailing blanks and empty lines at the ends.
func block(s string) string { return disarm(code(s)) }

// code is block for text that will stand in a fence, where tags are harmless.
func code(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "?"))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, l)
		lines[i] = strings.TrimRightFunc(l, unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// none stands where a word is missing.
const none = "none"

// span is a code span of a word, or none; words hold no backticks.
func span(s string) string {
	if s == "" {
		return none
	}
	return "`" + s + "`"
}

func spans(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = span(s)
	}
	return strings.Join(out, ", ")
}

// quote puts every line into a block quote, which bounds fences and lists the text may leave open.
func quote(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if lines[i] = "> " + l; l == "" {
			lines[i] = ">"
		}
	}
	return strings.Join(lines, "\n")
}

// fence wraps code in backticks, more of them than the code has in a row.
func fence(s, language string) string {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	bar := strings.Repeat("`", max(3, longest+1))
	return bar + language + "\n" + s + "\n" + bar
}

// infoWords are fence words GitHub acts upon instead of colouring (threats.md T39).
var infoWords = map[string]bool{"suggestion": true, "mermaid": true, "math": true, "geojson": true, "topojson": true, "stl": true}

var languageName = lazyregexp.New(`^[a-z][a-z0-9+#-]{0,19}$`)

// language keeps names fit for a fence.
func language(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if infoWords[s] || !languageName.MatchString(s) {
		return ""
	}
	return s
}

func row(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(escaped, " | ") + " |"
}

// header is a table's first two lines; names ending in ">" are set flush right.
func header(names ...string) string {
	rule := make([]string, len(names))
	for i, n := range names {
		rule[i] = "---"
		if n, right := strings.CutSuffix(n, ">"); right {
			names[i], rule[i] = n, "--:"
		}
	}
	return row(names...) + "\n" + row(rule...)
}
