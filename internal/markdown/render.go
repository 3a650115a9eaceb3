package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// Options say what the terminal can do.
type Options struct {
	// Width is the number of columns; 0 means 80.
	Width int
	// Color allows escape sequences for colour and weight.
	Color bool
}

const (
	minWidth = 40
	maxWidth = 120
)

// Render shows Markdown as lines for a terminal, ending in a newline. source must hold no control characters but newline
// and tab (sanitize.Terminal): what is in it is printed.
func Render(source string, o Options) string {
	if o.Width <= 0 {
		o.Width = 80
	}
	src := []byte(source)
	doc := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser().Parse(text.NewReader(src))
	r := renderer{src: src, paint: paint(o.Color), width: min(max(o.Width, minWidth), maxWidth)}
	r.blocks(doc, "")
	return strings.TrimRight(r.out.String(), "\n") + "\n"
}

type renderer struct {
	src   []byte
	out   bytes.Buffer
	paint paint
	width int
	// depth counts open folded parts, which are indented.
	depth int
}

// blocks renders the children of a block one below the other, a blank line between them.
func (r *renderer) blocks(n ast.Node, indent string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.block(c, indent+strings.Repeat("  ", r.depth))
	}
}

func (r *renderer) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n, indent)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(n, indent, indent)
	case *ast.Blockquote:
		r.quote(n, indent)
	case *ast.List:
		r.list(n, indent)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.code(n, indent)
	case *ast.ThematicBreak:
		r.line(indent, r.paint.dim(strings.Repeat("─", min(20, r.room(indent)))))
		r.gap()
	case *ast.HTMLBlock:
		r.fold(n)
	case *east.Table:
		r.table(n, indent)
	default:
		r.blocks(n, indent)
	}
}

func (r *renderer) room(indent string) int { return max(r.width-columns(indent), 20) }

func (r *renderer) line(indent, s string) { r.out.WriteString(strings.TrimRight(indent+s, " ") + "\n") }

// gap ends a block; several in a row make one blank line.
func (r *renderer) gap() {
	if !bytes.HasSuffix(r.out.Bytes(), []byte("\n\n")) && r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
}

func (r *renderer) heading(n *ast.Heading, indent string) {
	s := plain(r.inlines(n))
	switch n.Level {
	case 1:
		r.line(indent, r.paint.title(s))
		r.line(indent, r.paint.dim(strings.Repeat("═", min(columns(s), r.room(indent)))))
	case 2:
		r.line(indent, r.paint.title(s))
		r.line(indent, r.paint.dim(strings.Repeat("─", min(columns(s), r.room(indent)))))
	default:
		for i, l := range wrap(words(span{s, styleBold}), r.room(indent)) {
			if i > 0 {
				r.line(indent+"  ", r.styled(l))
				continue
			}
			r.line(indent, r.styled(l))
		}
	}
	r.gap()
}

// paragraph wraps inline content; the first line may have another indent, such as a bullet.
func (r *renderer) paragraph(n ast.Node, first, rest string) {
	for i, l := range wrap(words(r.inlines(n)...), r.room(rest)) {
		indent := rest
		if i == 0 {
			indent = first
		}
		r.line(indent, r.styled(l))
	}
	r.gap()
}

func (r *renderer) quote(n ast.Node, indent string) {
	inner := renderer{src: r.src, paint: r.paint, width: r.room(indent) - 2}
	inner.width = max(inner.width, 20)
	inner.blocks(n, "")
	for l := range strings.SplitSeq(strings.TrimRight(inner.out.String(), "\n"), "\n") {
		r.line(indent+r.paint.dim("│")+" ", l)
	}
	r.gap()
}

func (r *renderer) list(n *ast.List, indent string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		bullet := "• "
		if n.IsOrdered() {
			bullet = fmt.Sprintf("%d. ", number)
			number++
		}
		pad := strings.Repeat(" ", columns(bullet))
		for c := item.FirstChild(); c != nil; c = c.NextSibling() {
			if c == item.FirstChild() && (c.Kind() == ast.KindTextBlock || c.Kind() == ast.KindParagraph) {
				r.paragraph(c, indent+bullet, indent+pad)
			} else {
				r.block(c, indent+pad)
			}
			if n.IsTight {
				r.tighten()
			}
		}
	}
	r.gap()
}

// tighten takes back the blank line after an item of a tight list.
func (r *renderer) tighten() {
	if bytes.HasSuffix(r.out.Bytes(), []byte("\n\n")) {
		r.out.Truncate(r.out.Len() - 1)
	}
}

func (r *renderer) code(n ast.Node, indent string) {
	lines := n.Lines()
	for i := range lines.Len() {
		seg := lines.At(i)
		l := strings.ReplaceAll(strings.TrimRight(string(seg.Value(r.src)), "\n"), "\t", "    ")
		r.line(indent+r.paint.dim("┃ "), r.paint.code(l))
	}
	r.gap()
}

var summary = lazyregexp.New(`(?s)<summary>(.*?)</summary>`)

// fold shows a folded part open: its summary as a heading, its content indented. Other HTML is not shown; reports have none.
func (r *renderer) fold(n *ast.HTMLBlock) {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(r.src))
	}
	if n.HasClosure() {
		b.Write(n.ClosureLine.Value(r.src))
	}
	s := b.String()
	if strings.Contains(s, "</details>") && r.depth > 0 {
		r.depth--
	}
	if m := summary.FindStringSubmatch(s); m != nil {
		r.line(strings.Repeat("  ", r.depth), r.paint.title("▾ "+strings.TrimSpace(m[1])))
		r.gap()
	}
	if strings.Contains(s, "<details>") {
		r.depth++
	}
}
