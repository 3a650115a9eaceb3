package sanitize

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// mode says whose text is read: a field of an agent, or a whole body with the template's vocabulary.
type mode struct {
	policy Policy
	// body allows details and summary and any depth of heading.
	body bool
	// plain drops emphasis, for texts that do not settle with it.
	plain bool
}

// fieldHeading is the smallest depth a heading of a field may have, so that it cannot pass for one of the report's.
const fieldHeading = 5

// converter makes our tree of goldmark's.
type converter struct {
	mode
	src []byte
}

// parseBlocks reads Markdown into the allowed tree.
func parseBlocks(s string, m mode) []*block {
	src := []byte(flatten(s))
	doc := readMarkdown().Parse(text.NewReader(src))
	c := converter{m, src}
	return c.blocks(doc, true)
}

// parseInline reads one line of Markdown, no blocks.
func parseInline(s string, m mode) []inline {
	src := []byte(s)
	doc := readLine().Parse(text.NewReader(src))
	c := converter{m, src}
	var out []inline
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n, ok := n.(*denseParagraph); ok {
			out = append(out, c.denseParagraph(n)...)
			continue
		}
		out = append(out, c.inlines(n)...)
	}
	return oneLine(out)
}

// blocks converts the children of a block. Tags of the template count only at the top of a body.
func (c converter) blocks(parent ast.Node, top bool) []*block {
	var nodes []ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		nodes = append(nodes, n)
	}
	if top && c.body {
		closers := 0
		for _, n := range nodes {
			if t, ok := n.(*tag); ok && t.line == "</details>" {
				closers++
			}
		}
		out, _ := c.nest(nodes, 0, 0, &closers)
		return out
	}
	var out []*block
	for _, n := range nodes {
		out = c.add(out, n)
	}
	return out
}

// nest gathers what stands between <details> and </details>. A tag without its partner, or a summary elsewhere than
// right after its opening tag, becomes text. closers counts the closing tags from node i on.
func (c converter) nest(nodes []ast.Node, i, depth int, closers *int) (out []*block, next int) {
	for i < len(nodes) {
		t, ok := nodes[i].(*tag)
		switch {
		case !ok:
			out = c.add(out, nodes[i])
			i++
		case t.line == "</details>" && depth > 0:
			return out, i
		case t.line == "<details>" && depth < 3 && *closers > depth:
			d := &block{kind: kindDetails}
			from := i + 1
			if from < len(nodes) {
				if s, ok := nodes[from].(*tag); ok && strings.HasPrefix(s.line, "<summary>") {
					d.inl = c.summary(s.line)
					from++
				}
			}
			kids, end := c.nest(nodes, from, depth+1, closers)
			if end >= len(nodes) { // no partner: the opening tag is text, what follows stays
				out = append(out, c.textBlock(t.line))
				if d.inl != nil {
					out = append(out, &block{kind: kindParagraph, inl: d.inl})
				}
				return append(out, kids...), end
			}
			d.kids = kids
			if d.inl == nil {
				d.inl = []inline{{kind: kindText, s: "Details"}}
			}
			out = append(out, d)
			i = end + 1
			*closers--
		default:
			if t.line == "</details>" {
				*closers--
			}
			out = append(out, c.textBlock(t.line))
			i++
		}
	}
	return out, i
}

// textBlock is a paragraph of literal text.
func (c converter) textBlock(s string) *block {
	return &block{kind: kindParagraph, inl: c.finish([]inline{{kind: kindText, s: s}}, true)}
}

// add converts one block node and appends what becomes of it.
func (c converter) add(out []*block, n ast.Node) []*block {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		if inl := c.inlines(n); len(inl) > 0 {
			out = append(out, &block{kind: kindParagraph, inl: inl})
		}
	case *ast.Heading:
		if inl := oneLine(c.inlines(n)); len(inl) > 0 {
			level := n.Level
			if !c.body {
				level = max(level, fieldHeading)
			}
			out = append(out, &block{kind: kindHeading, level: level, inl: inl})
		}
	case *ast.ThematicBreak:
		out = append(out, &block{kind: kindRule})
	case *ast.Blockquote:
		if kids := c.blocks(n, false); len(kids) > 0 {
			out = append(out, &block{kind: kindQuote, kids: kids})
		}
	case *ast.List:
		out = append(out, c.list(n))
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Segment.Value(c.src))
		}
		out = append(out, c.code(info, n.Lines()))
	case *ast.CodeBlock:
		out = append(out, c.code("", n.Lines()))
	case *east.Table:
		out = append(out, c.table(n))
	case *tag:
		out = append(out, c.textBlock(n.line))
	case *denseParagraph:
		if in := c.denseParagraph(n); len(in) > 0 {
			out = append(out, &block{kind: kindParagraph, inl: in})
		}
	}
	return out
}

// denseParagraph is a paragraph taken as plain text, escapes resolved.
func (c converter) denseParagraph(n *denseParagraph) []inline {
	in := make([]inline, 0, 2*n.Lines().Len())
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		if i > 0 {
			in = append(in, inline{kind: kindSoft})
		}
		in = append(in, inline{kind: kindText, s: strings.TrimSpace(literal(seg.Value(c.src)))})
	}
	return c.finish(in, true)
}

func (c converter) list(n *ast.List) *block {
	b := &block{kind: kindList, ordered: n.IsOrdered(), level: n.Start, tight: n.IsTight}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		b.kids = append(b.kids, &block{kind: kindItem, kids: c.blocks(item, false)})
	}
	return b
}

func (c converter) code(info string, lines *text.Segments) *block {
	b := &block{kind: kindCode, info: language(info)}
	var all strings.Builder
	for i := range lines.Len() {
		seg := lines.At(i)
		all.Write(seg.Value(c.src))
	}
	body := redactOwn(inert(all.String()))
	body = strings.TrimSuffix(body, "\n")
	if body != "" {
		b.lines = strings.Split(body, "\n")
	}
	for i, line := range b.lines {
		b.lines[i] = guarded(line)
	}
	return b
}

func (c converter) table(n *east.Table) *block {
	b := &block{kind: kindTable}
	for _, a := range n.Alignments {
		b.align = append(b.align, map[east.Alignment]int{east.AlignLeft: 1, east.AlignRight: 2, east.AlignCenter: 3}[a])
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]inline
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, splitPipes(oneLine(c.cell(cell))))
		}
		for len(cells) < len(b.align) {
			cells = append(cells, nil)
		}
		b.rows = append(b.rows, cells[:len(b.align)])
	}
	return b
}

// cell converts a table cell, in whose code an escaped pipe is a pipe.
func (c converter) cell(n ast.Node) []inline {
	in := c.gather(n)
	for i := range in {
		if in[i].kind == kindSpan {
			in[i].s = strings.ReplaceAll(in[i].s, `\|`, "|")
		}
	}
	if c.plain {
		in = plainInlines(in)
	}
	return c.finish(in, true)
}

// literal is the text a segment stands for: escapes and entities resolved.
func literal(raw []byte) string {
	return string(util.UnescapePunctuations(raw))
}
