package markdown

import (
	"html"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/yuin/goldmark/ast"
)

// style is how a piece of text stands out.
type style int

const (
	styleNone style = iota
	styleBold
	styleItalic
	styleCode
	styleLink
)

// span is text of one style.
type span struct {
	text  string
	style style
}

// inlines flattens inline content. A link shows its text; the address follows when it says more.
func (r *renderer) inlines(n ast.Node) []span {
	var out []span
	var walk func(ast.Node, style)
	walk = func(n ast.Node, st style) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.Text:
				out = append(out, span{html.UnescapeString(unescape(string(c.Segment.Value(r.src)))), st})
				if c.SoftLineBreak() || c.HardLineBreak() {
					out = append(out, span{"\n", st}) // as in GitHub's comments
				}
			case *ast.String:
				out = append(out, span{string(c.Value), st})
			case *ast.CodeSpan:
				out = append(out, span{string(c.Text(r.src)), styleCode}) //nolint:staticcheck // the span's own segments, in order
			case *ast.Emphasis:
				next := styleItalic
				if c.Level == 2 {
					next = styleBold
				}
				walk(c, next)
			case *ast.Link:
				before := len(out)
				walk(c, styleLink)
				if len(out) == before {
					out = append(out, span{string(c.Destination), styleLink})
				}
			case *ast.AutoLink:
				out = append(out, span{string(c.URL(r.src)), styleLink})
			case *ast.RawHTML:
			default:
				walk(c, st)
			}
		}
	}
	walk(n, styleNone)
	return out
}

// unescape takes the backslash off escaped punctuation.
func unescape(s string) string {
	if !strings.ContainsRune(s, '\\') {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func plain(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func columns(s string) int { return runewidth.StringWidth(s) }

// words splits spans at blanks. A word may have several styles; joined tells that no blank stood before it, first that a
// line of its own begins with it.
type word struct {
	span
	joined, first bool
}

func words(spans ...span) []word {
	var out []word
	blank, first := true, false
	for _, s := range spans {
		rest := s.text
		first = first || rest == "\n"
		for rest != "" {
			trimmed := strings.TrimLeft(rest, " \t\n")
			if len(trimmed) < len(rest) {
				blank = true
			}
			if trimmed == "" {
				break
			}
			end := strings.IndexAny(trimmed, " \t\n")
			if end < 0 {
				end = len(trimmed)
			}
			out = append(out, word{span{trimmed[:end], s.style}, !blank, first})
			blank, first, rest = false, false, trimmed[end:]
		}
	}
	return out
}

// wrap breaks words into lines of at most width columns; a longer word stands alone, cut into pieces.
func wrap(list []word, width int) [][]word {
	var lines [][]word
	var line []word
	used := 0
	flush := func() {
		if len(line) > 0 {
			lines = append(lines, line)
		}
		line, used = nil, 0
	}
	for _, w := range list {
		gap := 1
		if w.joined || len(line) == 0 {
			gap = 0
		}
		if (w.first || used+gap+columns(w.text) > width) && len(line) > 0 {
			flush()
			gap = 0
		}
		for columns(w.text) > width {
			head := runewidth.Truncate(w.text, width, "")
			if head == "" {
				break
			}
			lines = append(lines, []word{{span: span{head, w.style}}})
			w.text = w.text[len(head):]
		}
		line = append(line, word{span: w.span, joined: gap == 0})
		used += gap + columns(w.text)
	}
	flush()
	return lines
}

// styled joins the words of a line again.
func (r *renderer) styled(line []word) string {
	var b strings.Builder
	for i, w := range line {
		if i > 0 && !w.joined {
			b.WriteByte(' ')
		}
		b.WriteString(r.paint.span(w.span))
	}
	return b.String()
}

// paint writes escape sequences, or none.
type paint bool

func (p paint) wrap(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) title(s string) string { return p.wrap("1;36", s) }
func (p paint) dim(s string) string   { return p.wrap("2", s) }
func (p paint) code(s string) string  { return p.wrap("33", s) }

func (p paint) span(s span) string {
	switch s.style {
	case styleBold:
		return p.wrap("1", s.text)
	case styleItalic:
		return p.wrap("3", s.text)
	case styleCode:
		return p.code(s.text)
	case styleLink:
		return p.wrap("4", s.text)
	}
	return s.text
}
