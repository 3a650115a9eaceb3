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

// fold makes text one line, without characters that nobody sees and that turn around or split what stands beside them.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
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

// block keeps lines, without control and format characters, trailing blanks and empty lines at the ends.
func block(s string) string { return disarm(code(s)) }

// code is block for text that will stand in a fence, where tags are harmless.
func code(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "?"))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		l = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cc, unicode.Cf) && r != '\t' {
				return -1
			}
			return r
		}, l)
		lines[i] = strings.TrimRightFunc(l, unicode.IsSpace)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// opensBlock matches a line that begins something else than a paragraph, or that could be taken for the template's own.
var opensBlock = lazyregexp.New("^(?:    |\t|[ \t]*(?:#{1,6}(?:\\s|$)|>|[-+*](?:\\s|$)|[0-9]{1,9}[.)](?:\\s|$)|[-*_=|: \t]+$|<|\\[[^\\]]*\\]:|\\||```|~~~|\\*\\*(?:Fix|Also|Reason|No complete answer)))")

// simple reports whether a text is one paragraph of one line that nothing in it can leave.
func simple(s string) bool {
	return s != "" && !strings.Contains(s, "\n") && !opensBlock.MatchString(s) && !strings.HasSuffix(s, `\`)
}

// clip is the beginning of a text that is longer than it may be, with a mark where it ends.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.TrimRight(strings.ToValidUTF8(s[:most], ""), " ") + " …"
}

// paragraphs are the parts of a text between blank lines; a text with code in it is one part.
func paragraphs(s string) []string {
	if s == "" {
		return nil
	}
	if strings.Contains(s, "```") || strings.Contains(s, "~~~") {
		return []string{s}
	}
	var out []string
	for _, part := range strings.Split(s, "\n\n") {
		if part = strings.Trim(part, "\n"); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// prose is a block of which each paragraph that is plain text is one line, and none of those is very long.
func prose(s string) string {
	var out []string
	for _, part := range paragraphs(block(s)) {
		if line := inline(part); flowing(part) && simple(line) {
			out = append(out, broken(line)...)
		} else {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n\n")
}

// flowing reports whether a text's line ends are no more than blanks.
func flowing(s string) bool {
	for l := range strings.SplitSeq(s, "\n") {
		if opensBlock.MatchString(l) || strings.HasSuffix(l, `\`) {
			return false
		}
	}
	return true
}

// broken breaks a long paragraph behind a sentence, where no code and no emphasis is open.
func broken(line string) []string {
	for at := min(len(line), longText); len(line) > longText && at > 0; {
		at = strings.LastIndex(line[:at], ". ")
		if at < 0 {
			break
		}
		head, rest := line[:at+1], line[at+2:]
		if strings.Count(head, "`")%2 == 0 && strings.Count(head, "*")%2 == 0 && strings.Count(head, "[") == strings.Count(head, "]") && simple(head) && simple(rest) {
			return append([]string{head}, broken(rest)...)
		}
	}
	return []string{line}
}

// sentence is a text of one line that begins a paragraph and ends in a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if strings.IndexByte(".!?:", s[len(s)-1]) < 0 {
		s += "."
	}
	if !simple(s) || strings.HasPrefix(s, "**") { // the template's own lines begin so
		s = "Reason: " + s
	}
	if s[0] >= 'a' && s[0] <= 'z' {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// Bounds of quoted code, in lines and characters: the place leads to the rest.
const (
	maxQuoted = 5
	maxColumn = 160
)

// excerpt is the beginning of quoted code, with a mark where something is left out.
func excerpt(s string) string {
	lines := strings.Split(code(s), "\n")
	if len(lines) > maxQuoted+1 {
		lines = append(lines[:maxQuoted:maxQuoted], "…")
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > maxColumn {
			lines[i] = strings.TrimRightFunc(string(r[:maxColumn-1]), unicode.IsSpace) + "…"
		}
	}
	return strings.Join(lines, "\n")
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

// quotation reports whether a text is a block quote already, as what people said is, that needs no other around it: what it holds could not stand in one by itself.
func quotation(s string) bool {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(l, ">"), " ")
	}
	held := strings.Join(lines, "\n")
	return s == quote(held) && !bounded(held)
}

// bounded reports whether a text is one paragraph that is put into a quote, since it could leave its place.
func bounded(s string) bool { return prose(s) == s && len(paragraphs(s)) == 1 && !simple(s) }

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

// pipes escapes what would end a table cell. Text that the last gate has seen is escaped already.
func pipes(s string) string {
	var b strings.Builder
	slashes := 0
	for _, r := range s {
		if r == '|' && slashes%2 == 0 {
			b.WriteByte('\\')
		}
		if slashes++; r != '\\' {
			slashes = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// row is a line of a table; what is free text in a cell went through pipes.
func row(cells ...string) string {
	return strings.ReplaceAll("| "+strings.Join(cells, " | ")+" |", "|  |", "| |")
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
