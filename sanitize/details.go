package sanitize

import (
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// htmlPair is the little HTML a summary may carry. A summary is HTML to GitHub, not Markdown, so formatting is written
// with tags there.
var htmlPair = lazyregexp.New(`<(code|b|strong|i|em)>([^<>]*)</(?:code|b|strong|i|em)>`)

// summary reads the line of a summary: Markdown and the tags above.
func (c converter) summary(line string) []inline {
	s := strings.TrimSuffix(strings.TrimPrefix(line, "<summary>"), "</summary>")
	in := parseRaw(s, c.mode)
	return plainLinks(oneLine(c.finish(pairTags(in), true)))
}

// pairTags turns tag pairs in text nodes into nodes.
func pairTags(in []inline) []inline {
	var out []inline
	for _, n := range in {
		if n.kind != kindText {
			out = append(out, n)
			continue
		}
		s := n.s
		for {
			at := htmlPair.FindStringSubmatchIndex(s)
			if at == nil {
				break
			}
			out = append(out, inline{kind: kindText, s: s[:at[0]]})
			body := decodeEntities(s[at[4]:at[5]])
			switch s[at[2]:at[3]] {
			case "code":
				out = append(out, inline{kind: kindSpan, s: body})
			case "b", "strong":
				out = append(out, inline{kind: kindStrong, kids: []inline{{kind: kindText, s: body}}})
			default:
				out = append(out, inline{kind: kindEm, kids: []inline{{kind: kindText, s: body}}})
			}
			s = s[at[1]:]
		}
		out = append(out, inline{kind: kindText, s: s})
	}
	return join(out)
}

// plainLinks keeps the text of links: a summary is clicked to open it.
func plainLinks(in []inline) []inline {
	var out []inline
	for _, n := range in {
		switch {
		case n.kind == kindLink && flatText(n.kids) == n.s:
			out = append(out, inline{kind: kindSpan, s: n.s})
		case n.kind == kindLink:
			out = append(out, n.kids...)
		default:
			n.kids = plainLinks(n.kids)
			out = append(out, n)
		}
	}
	return join(out)
}

// summaryHTML writes a summary's text. Characters that Markdown would read are written as entities, so that a second
// reading as Markdown sees literal text.
func summaryHTML(in []inline) string {
	var b strings.Builder
	writeHTML(&b, in)
	return strings.TrimSpace(b.String())
}

var summaryEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "&#96;", "*", "&#42;", "\\", "&#92;",
	"[", "&#91;", "~", "&#126;", "$", "&#36;")

func writeHTML(b *strings.Builder, in []inline) {
	for _, n := range in {
		switch n.kind {
		case kindText:
			b.WriteString(escapeSummary(n.s))
		case kindSpan:
			b.WriteString("<code>" + escapeSummary(n.s) + "</code>")
		case kindStrong:
			b.WriteString("<b>" + escapeSummary(flatText(n.kids)) + "</b>")
		case kindEm:
			b.WriteString("<i>" + escapeSummary(flatText(n.kids)) + "</i>")
		default:
			writeHTML(b, n.kids)
		}
	}
}

// escapeSummary keeps the words that say something was redacted readable in the source.
func escapeSummary(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_' && !(i > 0 && i+1 < len(s) && alnum(s[i-1]) && alnum(s[i+1])):
			b.WriteString("&#95;")
		case c == '[' && safeBracket.MatchString(s[i:]):
			b.WriteByte(c)
		default:
			b.WriteString(summaryEscapes.Replace(s[i : i+1]))
		}
	}
	return b.String()
}
