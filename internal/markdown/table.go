package markdown

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
)

// table draws a table as aligned columns when it fits, and as one block of "heading: cell" lines a row when it does not.
func (r *renderer) table(n *east.Table, indent string) {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, plain(r.inlines(c)))
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(rows[0]))
	total := 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], columns(row[i]))
			}
		}
		total += widths[i]
	}
	if total > r.room(indent) {
		r.cards(rows, indent)
	} else {
		r.grid(rows, widths, n.Alignments, indent)
	}
	r.gap()
}

func (r *renderer) grid(rows [][]string, widths []int, align []east.Alignment, indent string) {
	for i, row := range rows {
		cells := make([]string, len(widths))
		for c := range widths {
			s := ""
			if c < len(row) {
				s = row[c]
			}
			pad := strings.Repeat(" ", widths[c]-columns(s))
			if c < len(align) && align[c] == east.AlignRight {
				cells[c] = pad + s
			} else {
				cells[c] = s + pad
			}
			if i == 0 {
				cells[c] = r.paint.wrap("1", cells[c])
			}
		}
		r.line(indent, strings.Join(cells, "  "))
		if i == 0 {
			rule := make([]string, len(widths))
			for c, w := range widths {
				rule[c] = strings.Repeat("─", w)
			}
			r.line(indent, r.paint.dim(strings.Join(rule, "  ")))
		}
	}
}

// cards shows each row of a wide table as a small block: empty and dashed cells say nothing and are left out.
func (r *renderer) cards(rows [][]string, indent string) {
	head := rows[0]
	for _, row := range rows[1:] {
		var parts []span
		for c, cell := range row {
			if cell == "" || cell == "-" || c >= len(head) {
				continue
			}
			if len(parts) > 0 {
				parts = append(parts, span{" · ", styleNone})
			}
			parts = append(parts, span{strings.ToLower(head[c]) + " ", styleItalic}, span{cell, styleNone})
		}
		for i, l := range wrap(words(parts...), r.room(indent)-2) {
			lead := indent + "• "
			if i > 0 {
				lead = indent + "  "
			}
			r.line(lead, r.styled(l))
		}
	}
}
