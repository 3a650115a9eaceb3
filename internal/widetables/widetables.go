// Package widetables bounds the tables of Markdown. A row of a table has the cells of the row above it, whether or not it writes them: a
// wide table of short rows is thousands of times as large as its text, for GitHub's parser as for the one that prloop reads with.
package widetables

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Most is how many cells the rows of a document may leave out. Where they leave out more, what would be a table is read as no table.
// GitHub's own bound is half a million; reports have tables of ten columns.
const Most = 20_000

// left is where the cells that were left out so far are counted while a document is read.
var left = parser.NewContextKey()

// TooWide reports whether a paragraph would be a table with more cells left out than the document has room for. It counts them, if it is
// not. It has to be asked before the paragraph is made a table.
func TooWide(p *ast.Paragraph, source []byte, pc parser.Context) bool {
	n := missing(p.Lines(), source)
	if n == 0 {
		return false
	}
	sum, _ := pc.Get(left).(int)
	if sum += n; sum > Most {
		return true
	}
	pc.Set(left, sum)
	return false
}

// missing is how many cells the rows of a table leave out, at most; 0 for what is no table.
func missing(lines *text.Segments, source []byte) (n int) {
	columns, first := 0, 0
	for i := 1; i < lines.Len(); i++ {
		at := lines.At(i)
		if line := at.Value(source); delimits(line) {
			if columns == 0 {
				first = i
			}
			columns = max(columns, cells(line))
		}
	}
	for i := first + 1; columns > 0 && i < lines.Len(); i++ {
		at := lines.At(i)
		n += max(0, columns-cells(at.Value(source)))
	}
	return n
}

// delimits reports whether a line may stand between the heading of a table and its rows.
func delimits(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t\r\n\v\f")) == 0
}

// cells is how many cells a row writes.
func cells(line []byte) int {
	line = bytes.TrimSpace(line)
	line = bytes.TrimPrefix(line, []byte("|"))
	if len(line) == 0 {
		return 0
	}
	n := 1
	for i, c := range line[:len(line)-1] { // one at the end opens no other
		if c == '|' && (i == 0 || line[i-1] != '\\') {
			n++
		}
	}
	return n
}

// Bounded has paragraphs that are TooWide read as code: nothing in them is a table, or anything else. Its priority is to be lower than that of
// what makes tables.
type Bounded struct{}

// Transform is called by the parser.
func (Bounded) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if !TooWide(p, reader.Source(), pc) {
		return
	}
	code := ast.NewCodeBlock()
	code.SetLines(p.Lines())
	p.Parent().ReplaceChild(p.Parent(), p, code)
}
