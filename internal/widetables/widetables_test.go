package widetables_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/prloop/prloop/internal/widetables"
)

// table is a table of so many columns, whose rows write so many of their cells.
func table(columns, rows, written int) string {
	return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat(strings.Repeat("|b", written)+"|\n", rows)
}

// read gives how many tables and cells a text has, and how many blocks of code.
func read(source string) (found, cells, code int) {
	p := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()
	p.AddOptions(parser.WithParagraphTransformers(util.Prioritized(widetables.Bounded{}, 100)))
	_ = ast.Walk(p.Parse(text.NewReader([]byte(source))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n.Kind() {
			case east.KindTable:
				found++
			case east.KindTableCell:
				cells++
			case ast.KindCodeBlock:
				code++
			}
		}
		return ast.WalkContinue, nil
	})
	return found, cells, code
}

// A text has at most as many cells as it writes and Most, in one table or in many; what is beyond is code, and what people write is a table.
func TestWideTablesAreCode(t *testing.T) {
	for name, row := range map[string]struct {
		text                string
		found, cells, codes int
	}{
		"of a report":            {table(10, 300, 10), 1, 3010, 0},
		"large, and all written": {table(150, 300, 150), 1, 150 * 301, 0},
		"a cell is missing":      {table(10, 300, 9), 1, 3010, 0},
		"wide, and short rows":   {table(4000, 4000, 1), 0, 0, 1},
		"without pipes outside":  {strings.Repeat("a|", 3999) + "a\n" + strings.Repeat("-|", 3999) + "-\n" + strings.Repeat("b\n", 4000), 0, 0, 1},
		"escaped pipes":          {table(4000, 0, 1) + strings.Repeat(strings.Repeat(`\|`, 50)+"\n", 400), 0, 0, 1},
		"behind a line of text":  {"x\n" + table(4000, 4000, 1), 0, 0, 1},
		"aligned":                {strings.Repeat("|a", 2000) + "|\n" + strings.Repeat("|:-:", 2000) + "|\n" + strings.Repeat("|b\n", 200), 0, 0, 1},
		"in a quote":             {"> " + strings.ReplaceAll(table(4000, 4000, 1), "\n", "\n> "), 0, 0, 1},
		"in a list":              {"- " + strings.ReplaceAll(table(4000, 4000, 1), "\n", "\n  "), 0, 0, 1},
		"one that only begins":   {"a\n" + strings.Repeat("-|", 4000) + "\n" + strings.Repeat("b\n", 4000), 0, 0, 1},
		"no table":               {strings.Repeat("a | b\n", 4000), 0, 0, 0},
	} {
		found, cells, code := read(row.text)
		if found != row.found || cells != row.cells || code != row.codes {
			t.Errorf("%s: %d tables, %d cells, %d blocks of code; want %d, %d, %d", name, found, cells, code, row.found, row.cells, row.codes)
		}
	}
	many := strings.Repeat(table(140, 140, 1)+"\n", 60)
	if found, cells, code := read(many); found != 1 || code != 59 || cells > widetables.Most+len(many) {
		t.Errorf("many small ones: %d tables, %d cells, %d blocks of code", found, cells, code)
	}
}
