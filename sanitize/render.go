package sanitize

import (
	"strconv"
	"strings"
)

// renderBlocks writes the canonical Markdown of a tree, without a newline at its end.
func renderBlocks(blocks []*block) string {
	return strings.Join(blockLines(blocks, 0, true), "\n")
}

// blockLines writes blocks as lines, with a blank line between them when loose. depth is how many containers they are in.
func blockLines(blocks []*block, depth int, loose bool) []string {
	var out []string
	var before *block
	alternate := false
	for _, b := range blocks {
		// Two lists of one kind in a row would be read as one: every second takes the other marker.
		alternate = before != nil && before.kind == kindList && b.kind == kindList && before.ordered == b.ordered && !alternate
		lines := b.render(depth, alternate)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 && loose {
			out = append(out, "")
		}
		out = append(out, lines...)
		before = b
	}
	return out
}

func (b *block) render(depth int, alternate bool) []string {
	switch b.kind {
	case kindParagraph:
		return paragraphLines(b.inl)
	case kindHeading:
		w := &writer{heading: true}
		w.inlines(b.inl)
		if text := strings.TrimSpace(w.String()); text != "" {
			return []string{strings.Repeat("#", b.level) + " " + text}
		}
		return nil
	case kindQuote:
		return prefixed(blockLines(b.kids, depth+1, true), "> ", "> ")
	case kindList:
		return b.listLines(depth, alternate)
	case kindCode:
		return b.codeLines(depth)
	case kindRule:
		if depth > 0 {
			return []string{"***"} // dashes after a list marker would be read as one longer rule
		}
		return []string{"---"}
	case kindTable:
		return b.tableLines()
	case kindDetails:
		out := []string{"<details>", "<summary>" + summaryHTML(b.inl) + "</summary>"}
		if kids := blockLines(b.kids, depth, true); len(kids) > 0 {
			out = append(append(out, ""), kids...)
		}
		return append(out, "", "</details>")
	}
	return nil
}

// prefixed puts first before the first line and rest before the others; blank lines get no trailing space.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		p := rest
		if i == 0 {
			p = first
		}
		if line == "" {
			p = strings.TrimRight(p, " ")
		}
		out[i] = p + line
	}
	return out
}

func (b *block) listLines(depth int, alternate bool) []string {
	tight := b.tight
	for _, item := range b.kids {
		tight = tight && item.compact()
	}
	var out []string
	for i, item := range b.kids {
		marker := "- "
		switch {
		case b.ordered && alternate:
			marker = strconv.Itoa(min(b.level+i, 999_999_999)) + ") "
		case b.ordered:
			marker = strconv.Itoa(min(b.level+i, 999_999_999)) + ". "
		case alternate:
			marker = "+ "
		}
		lines := blockLines(item.kids, depth+1, !tight)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, prefixed(lines, marker, strings.Repeat(" ", len(marker)))...)
	}
	return out
}

// compact reports whether an item can be written without blank lines and be read back the same.
func (b *block) compact() bool {
	switch len(b.kids) {
	case 0:
		return true
	case 1:
		return b.kids[0].kind == kindParagraph || b.kids[0].kind == kindCode
	case 2:
		second := b.kids[1]
		return b.kids[0].kind == kindParagraph &&
			(second.kind == kindCode || second.kind == kindList && second.tight && (!second.ordered || second.level == 1) && second.firstFilled())
	}
	return false
}

// firstFilled reports whether a list begins with an item that is not empty; an empty one cannot follow a paragraph.
func (b *block) firstFilled() bool { return len(b.kids) > 0 && len(b.kids[0].kids) > 0 }

func (b *block) codeLines(depth int) []string {
	fence := strings.Repeat("`", max(3, longestRun(strings.Join(b.lines, "\n"), '`')+1))
	out := make([]string, 0, len(b.lines)+2)
	out = append(out, fence+b.info)
	for _, line := range b.lines {
		if depth > 0 { // a tab after a quote mark is read as less than a tab
			body := strings.TrimLeft(line, "\t")
			line = strings.Repeat("    ", len(line)-len(body)) + body
		}
		if strings.Trim(line, " \t") == "" {
			line = ""
		}
		out = append(out, line)
	}
	return append(out, fence)
}

func (b *block) tableLines() []string {
	if len(b.rows) == 0 || len(b.align) == 0 {
		return nil
	}
	out := []string{tableRow(b.rows[0])}
	var sep strings.Builder
	sep.WriteByte('|')
	for _, a := range b.align {
		sep.WriteString([]string{" --- |", " :-- |", " --: |", " :-: |"}[a])
	}
	out = append(out, sep.String())
	for _, row := range b.rows[1:] {
		out = append(out, tableRow(row))
	}
	return out
}

func tableRow(cells [][]inline) string {
	var b strings.Builder
	b.WriteByte('|')
	for _, cell := range cells {
		w := &writer{cell: true}
		w.inlines(cell)
		b.WriteByte(' ')
		if text := strings.TrimSpace(w.String()); text != "" {
			b.WriteString(text)
			b.WriteByte(' ')
		}
		b.WriteByte('|')
	}
	return b.String()
}

// longestRun is the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
