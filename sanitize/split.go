package sanitize

import (
	"sort"
	"strings"
)

// split cuts one block in two so that the first fits into room: code between lines, lists between items, tables between
// rows with the header repeated, text between words (security 7.5). A nil head means nothing of it fits.
func (b *block) split(room int) (head, tail *block) {
	switch b.kind {
	case kindCode:
		return b.splitCode(room)
	case kindList, kindItem, kindQuote, kindDetails:
		return b.splitKids(room)
	case kindTable:
		return b.splitTable(room)
	case kindParagraph, kindHeading:
		return b.splitText(room)
	}
	return nil, b
}

// with is b with other kids.
func (b *block) with(kids []*block) *block {
	c := *b
	c.kids = kids
	return &c
}

// length is what b takes when written alone.
func (b *block) length() int {
	if b.kind == kindItem {
		return size([]*block{{kind: kindList, kids: []*block{b}}})
	}
	return size([]*block{b})
}

func (b *block) splitKids(room int) (head, tail *block) {
	n := sort.Search(len(b.kids), func(n int) bool { return b.with(b.kids[:n+1]).length() > room })
	if n == len(b.kids) {
		return b, nil
	}
	rest := b.with(b.kids[n:])
	if b.kind == kindList {
		rest.level += n
	}
	if n > 0 {
		return b.with(b.kids[:n:n]), rest
	}
	for r := room; r >= 64; r = r * 3 / 4 {
		h, t := b.kids[0].split(r)
		if h == nil {
			continue
		}
		if first := b.with([]*block{h}); first.length() <= room {
			if t == nil {
				return first, b.with(b.kids[1:])
			}
			return first, b.with(append([]*block{t}, b.kids[1:]...))
		}
	}
	return nil, b
}

func (b *block) splitCode(room int) (head, tail *block) {
	part := func(lines []string) *block { return &block{kind: kindCode, info: b.info, lines: lines} }
	n := sort.Search(len(b.lines), func(n int) bool { return part(b.lines[:n+1]).length() > room })
	if n > 0 {
		return part(b.lines[:n:n]), part(b.lines[n:])
	}
	for r := room; r >= 64 && len(b.lines) > 0; r = r * 3 / 4 {
		first := cut(b.lines[0], r)
		if h := part([]string{first}); h.length() <= room && first != "" && first != b.lines[0] {
			return h, part(append([]string{b.lines[0][len(first):]}, b.lines[1:]...))
		}
	}
	return nil, b
}

func (b *block) splitTable(room int) (head, tail *block) {
	part := func(n, to int) *block {
		t := *b
		t.rows = append([][][]inline{b.rows[0]}, b.rows[n:to]...)
		return &t
	}
	n := 1 + sort.Search(len(b.rows)-1, func(n int) bool { return part(1, n+2).length() > room })
	if n > 1 {
		return part(1, n), part(n, len(b.rows))
	}
	// A single row is larger than a comment: no table can hold it, so its rows become text.
	q := &block{kind: kindQuote}
	for _, row := range b.rows {
		var in []inline
		for i, cell := range row {
			if i > 0 {
				in = append(in, inline{kind: kindText, s: " | "})
			}
			in = append(in, cell...)
		}
		q.kids = append(q.kids, &block{kind: kindParagraph, inl: join(in)})
	}
	return q.splitKids(room)
}

func (b *block) splitText(room int) (head, tail *block) {
	part := func(in []inline) *block {
		c := *b
		c.inl = in
		return &c
	}
	n := sort.Search(len(b.inl), func(n int) bool { return part(b.inl[:n+1]).length() > room })
	if n > 0 {
		return part(b.inl[:n:n]), part(b.inl[n:])
	}
	if len(b.inl) == 0 {
		return nil, b
	}
	first := b.inl[0]
	if first.kind != kindText && first.kind != kindSpan {
		first = inline{kind: kindText, s: strings.ReplaceAll(flatText([]inline{first}), "\n", " ")}
	}
	for r := room; r >= 64; r = r * 3 / 4 {
		s := cut(first.s, r)
		if h := part([]inline{{kind: first.kind, s: s}}); s != "" && len(s) < len(first.s) && h.length() <= room {
			rest := inline{kind: first.kind, s: first.s[len(s):]}
			return h, part(append([]inline{rest}, b.inl[1:]...))
		}
	}
	return nil, b
}
