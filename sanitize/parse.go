package sanitize

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/widetables"
)

// readMarkdown and readLine parse GFM without HTML and without bare addresses: both are text to us, so nothing can hide
// behind an unended comment. Underlined headings are not read either: a whole long paragraph could become one. readLine
// knows no blocks but paragraphs.
var (
	readMarkdown = sync.OnceValue(func() parser.Parser {
		return newParser(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(tagParser{}, 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		)
	})
	readLine = sync.OnceValue(func() parser.Parser { return newParser(util.Prioritized(parser.NewParagraphParser(), 1000)) })
)

func newParser(blocks ...util.PrioritizedValue) parser.Parser {
	p := parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
	)
	p.AddOptions(parser.WithParagraphTransformers(util.Prioritized(crowdTransformer{}, 0)))
	if len(blocks) > 1 {
		// The table extension's own transformer, which unescapes pipes in code, takes quadratic time: convert does that.
		p.AddOptions(
			parser.WithParagraphTransformers(
				util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
				util.Prioritized(extension.NewTableParagraphTransformer(), 200),
			),
			parser.WithInlineParsers(util.Prioritized(extension.NewTaskCheckBoxParser(), 0)),
		)
	}
	return p
}

// tag is a line of the template's HTML vocabulary: <details>, </details> or <summary>…</summary>.
type tag struct {
	ast.BaseBlock
	line string
}

var kindTag = ast.NewNodeKind("TemplateTag")

func (*tag) Kind() ast.NodeKind            { return kindTag }
func (*tag) IsRaw() bool                   { return true }
func (t *tag) Dump(source []byte, lvl int) { ast.DumpHelper(t, source, lvl, nil, nil) }

var tagLine = lazyregexp.New(`^(?:<details>|</details>|<summary>[^\n]*</summary>)$`)

// tagParser reads tag lines. They carry no attributes; everything else that looks like HTML stays text.
type tagParser struct{}

func (tagParser) Trigger() []byte { return []byte{'<'} }

func (tagParser) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	s := strings.TrimSpace(string(line))
	if !tagLine.MatchString(s) {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	return &tag{line: s}, parser.NoChildren
}

func (tagParser) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (tagParser) Close(ast.Node, text.Reader, parser.Context)                 {}
func (tagParser) CanInterruptParagraph() bool                                 { return true }
func (tagParser) CanAcceptIndentedLine() bool                                 { return false }

// denseParagraph is a paragraph with so many delimiters, or of so many cells, that reading them would take quadratic time. It is taken as plain text.
type denseParagraph struct{ ast.BaseBlock }

var kindCrowd = ast.NewNodeKind("Crowd")

func (*denseParagraph) Kind() ast.NodeKind            { return kindCrowd }
func (*denseParagraph) IsRaw() bool                   { return true }
func (n *denseParagraph) Dump(source []byte, lvl int) { ast.DumpHelper(n, source, lvl, nil, nil) }

// maxDelimiters is how many characters of a paragraph, or of one row of a table, may be read as syntax.
const maxDelimiters = 1000

type crowdTransformer struct{}

func (crowdTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	total, most, table := 0, 0, false
	for i := range node.Lines().Len() {
		seg := node.Lines().At(i)
		line := seg.Value(reader.Source())
		n := 0
		for _, c := range line {
			if strings.IndexByte("[]!*_~`<", c) >= 0 {
				n++
			}
		}
		total, most = total+n, max(most, n)
		table = table || i == 1 && len(bytes.Trim(line, " |:-\n\t")) == 0
	}
	if most <= maxDelimiters && (table || total <= maxDelimiters) && !widetables.TooWide(node, reader.Source(), pc) {
		return
	}
	c := &denseParagraph{}
	c.SetLines(node.Lines())
	node.Parent().ReplaceChild(node.Parent(), node, c)
}

// maxContainers is how deep quotes and lists may be nested on one line; more costs the parser seconds (libraries 9).
const maxContainers = 12

var containerMark = lazyregexp.New(`^[ \t]*(?:>|[-*+](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$))`)

// flatten bounds nesting before anything is parsed: excess quote and list marks of a line are dropped, and indentation is
// cut to what maxContainers levels need.
func flatten(s string) string {
	const maxIndent = 8 * maxContainers
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if len(line) <= maxContainers || strings.IndexByte("# \t>-*+0123456789", line[0]) < 0 {
			continue
		}
		rest, marks := line, 0
		for m := -1; m != 0 && marks < maxContainers; {
			if m = len(containerMark.FindString(rest)); m > 0 {
				rest = rest[m:]
				marks++
			}
		}
		if marks == maxContainers && containerMark.MatchString(rest) {
			lines[i] = line[:len(line)-len(rest)] + " " + strings.TrimLeft(rest, " \t>-*+0123456789.)")
		}
		if len(line) > maxContainers*maxDelimiters/8 && strings.HasPrefix(rest, "#") {
			lines[i] = strings.TrimSuffix(line, rest) + strings.TrimLeft(rest, "#")
		}
		if pad := len(lines[i]) - len(strings.TrimLeft(lines[i], " \t")); pad > maxIndent {
			lines[i] = strings.Repeat(" ", maxIndent) + lines[i][pad:]
		}
	}
	return strings.Join(lines, "\n")
}
