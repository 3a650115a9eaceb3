package markdown

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
)

// table draws a table as aligned columns when it fits, and as one block a row when it does not.
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

// cards shows each row of a wide table as a small block of "heading: cell". A first column without a heading says with the next one what the row is about, on a
// line of their own. Empty and dashed cells say nothing and are left out.
func (r *renderer) cards(rows [][]string, indent string) {
	head, titles := rows[0], 0
	if head[0] == "" {
		titles = 2
	}
	for _, row := range rows[1:] {
		var title, rest []span
		for c, cell := range row {
			switch {
			case cell == "" || cell == "-" || c >= len(head):
			case c < titles:
				title = append(title, span{cell + " ", styleNone})
			default:
				if len(rest) > 0 {
					rest = append(rest, span{" · ", styleNone})
				}
				rest = append(rest, span{strings.TrimSuffix(strings.ToLower(head[c]), ".") + ": ", styleItalic}, span{cell, styleNone})
			}
		}
		lead := indent + "• "
		for _, part := range [][]span{title, rest} {
			for _, l := range wrap(words(part...), r.room(indent)-2) {
				r.line(lead, r.styled(l))
				lead = indent + "  "
			}
		}
	}
}
