package sanitize

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// inlines converts the text of a block node: gather, then make inactive.
func (c converter) inlines(n ast.Node) []inline {
	in := c.gather(n)
	if c.plain {
		in = plainInlines(in)
	}
	return c.finish(in, true)
}

// gather converts inline nodes. Images become their description and address, foreign links likewise: shown, not active.
// So do the boxes of task lists: whoever may write ticks a live one, and that edits a comment that is prloop's own (threats.md T521).
func (c converter) gather(parent ast.Node) []inline {
	var out []inline
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out = append(out, inline{kind: kindText, s: literal(n.Segment.Value(c.src))})
			if n.HardLineBreak() {
				out = append(out, inline{kind: kindHard})
			} else if n.SoftLineBreak() {
				out = append(out, inline{kind: kindSoft})
			}
		case *ast.String:
			out = append(out, inline{kind: kindText, s: string(n.Value)})
		case *ast.CodeSpan:
			out = append(out, inline{kind: kindSpan, s: c.spanText(n)})
		case *ast.Emphasis:
			kind := kindEm
			if n.Level == 2 {
				kind = kindStrong
			}
			out = append(out, inline{kind: kind, kids: c.gather(n)})
		case *east.Strikethrough:
			out = append(out, inline{kind: kindStrike, kids: c.gather(n)})
		case *ast.Link:
			out = append(out, c.link(string(n.Destination), c.gather(n))...)
		case *ast.Image:
			out = append(out, shown(c.gather(n), decodeEntities(literal(n.Destination)))...)
		case *ast.AutoLink:
			out = append(out, c.link(string(n.URL(c.src)), nil)...)
		case *east.TaskCheckBox:
			out = append(out, inline{kind: kindText, s: map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked]})
		}
	}
	return join(out)
}

func (c converter) spanText(n ast.Node) string {
	var b strings.Builder
	for t := n.FirstChild(); t != nil; t = t.NextSibling() {
		if t, ok := t.(*ast.Text); ok {
			b.Write(t.Segment.Value(c.src))
			if t.SoftLineBreak() && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte(' ')
			}
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// link keeps a link to this repository's own pages and shows any other.
func (c converter) link(dest string, kids []inline) []inline {
	dest = decodeEntities(literal([]byte(dest)))
	if url, ok := c.page(dest); ok {
		if len(kids) == 0 || flatText(kids) == dest {
			kids = []inline{{kind: kindText, s: url}}
		}
		return []inline{{kind: kindLink, s: url, kids: kids}}
	}
	return shown(kids, dest)
}

// shown is the text of a link or image followed by its address as code, so that nothing is lost and nothing is active.
func shown(kids []inline, dest string) []inline {
	dest = strings.Join(strings.Fields(clean(dest)), " ")
	span := inline{kind: kindSpan, s: dest}
	switch {
	case dest == "":
		return kids
	case len(kids) == 0 || flatText(kids) == dest || "mailto:"+flatText(kids) == dest:
		return []inline{span}
	}
	return append(kids, inline{kind: kindText, s: " ("}, span, inline{kind: kindText, s: ")"})
}

// finish makes the text of one block inactive: entities and hidden characters, comments, mentions, references, closing
// words, addresses, commands; then the secrets that only show once formatting is gone. start says that the first node
// begins a line.
func (c converter) finish(in []inline, start bool) []inline {
	in = dropComments(c.tidy(in))
	in = c.neutralise(in, start)
	flat := flatText(in)
	if red := redactOwn(flat); red != flat {
		in = nil
		for i, line := range strings.Split(red, "\n") {
			if i > 0 {
				in = append(in, inline{kind: kindSoft})
			}
			in = append(in, inline{kind: kindText, s: line})
		}
		in = c.neutralise(in, start)
	}
	return in
}

// tidy resolves what text nodes hide and drops copies of our markers.
func (c converter) tidy(in []inline) []inline {
	out := make([]inline, 0, len(in))
	for _, n := range in {
		switch n.kind {
		case kindText:
			n.s = dropMarkers(strings.ReplaceAll(clean(decodeEntities(clean(n.s))), "\n", " "))
		case kindSpan:
			n.s = inert(n.s)
		}
		n.kids = c.tidy(n.kids)
		out = append(out, n)
	}
	return join(out)
}

// dropComments drops HTML comments, also those that run over line ends. One without an end stays as text.
func dropComments(in []inline) []inline {
	last, at := -1, 0 // where the last end of a comment stands
	for i := len(in) - 1; i >= 0 && last < 0; i-- {
		if in[i].kind == kindText {
			if n := strings.LastIndex(in[i].s, "-->"); n >= 0 {
				last, at = i, n
			}
		}
	}
	if last < 0 {
		return in
	}
	out := make([]inline, 0, len(in))
	inside := false
	for i, n := range in {
		if n.kind != kindText {
			if !inside {
				out = append(out, n)
			}
			continue
		}
		var b strings.Builder
		for pos := 0; ; {
			if inside {
				end := strings.Index(n.s[pos:], "-->")
				if end < 0 {
					break
				}
				pos, inside = pos+end+len("-->"), false
			}
			open := strings.Index(n.s[pos:], "<!--")
			if open < 0 || i > last || i == last && pos+open+2 > at {
				b.WriteString(n.s[pos:])
				break
			}
			b.WriteString(n.s[pos : pos+open])
			pos, inside = pos+open+2, true // <!--> is a comment too
		}
		out = append(out, inline{kind: kindText, s: b.String()})
	}
	return join(out)
}
