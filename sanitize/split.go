package sanitize

import (
	"strconv"
	"strings"
)

// split cuts one block in two so that the first fits into room: code between lines, lists between items, tables between
// rows with the header repeated, text between words (threats.md T42). pad is how many bytes the containers around it put
// before each line. A nil head means nothing of it fits. Sizes are added up, not tried, so that cutting takes linear time.
func (b *block) split(room, pad int) (head, tail *block) {
	if room < 64 {
		return nil, b
	}
	if b.length(pad) <= room {
		return b, nil
	}
	switch b.kind {
	case kindCode:
		return b.splitCode(room, pad)
	case kindList, kindItem, kindQuote, kindDetails:
		return b.splitKids(room, pad)
	case kindTable:
		return b.splitTable(room, pad)
	case kindParagraph, kindHeading:
		return b.splitText(room, pad)
	}
	return nil, b
}

// fitting is how many of n pieces in a row fit into room.
func fitting(n, room int, length func(i int) int) int {
	for i := range n {
		if room -= length(i); room < 0 {
			return i
		}
	}
	return n
}

// with is b with other kids.
func (b *block) with(kids []*block) *block {
	c := *b
	c.kids = kids
	return &c
}

// length is what b takes when written alone, with pad bytes before each line.
func (b *block) length(pad int) int {
	if b.kind == kindItem {
		b = &block{kind: kindList, kids: []*block{b}}
	}
	n := 0
	for _, line := range blockLines([]*block{b}, min(pad, 1), true) {
		n += len(line) + 1 + pad
	}
	return n
}

// inner is how many bytes b puts before each line of its kids.
func (b *block) inner() int {
	switch b.kind {
	case kindQuote:
		return len("> ")
	case kindItem:
		return len(strconv.Itoa(999_999_999)) + len(". ")
	}
	return 0
}

func (b *block) splitKids(room, pad int) (head, tail *block) {
	frame := 0
	if b.kind == kindDetails {
		frame = b.with(nil).length(pad) + pad + 2
	}
	n := fitting(len(b.kids), room-frame, func(i int) int {
		// What a kid takes beside others: blank lines around and, in a loose list, inside it, and a longer number.
		blank := 1 + len(b.kids[i].kids)
		return b.with(b.kids[i:i+1]).length(pad) - min(frame, pad+2) + blank*(pad+3) + len(strconv.Itoa(999_999_999))
	})
	if n == 0 {
		if len(b.kids) == 0 {
			return nil, b
		}
		h, t := b.kids[0].split(room-frame-b.inner()-4, pad+b.inner())
		if h == nil || b.with([]*block{h}).length(pad) > room {
			return nil, b
		}
		rest := b.kids[1:]
		if t != nil {
			rest = append([]*block{t}, rest...)
		}
		return b.with([]*block{h}), b.with(rest)
	}
	rest := b.with(b.kids[n:])
	if b.kind == kindList {
		rest.level += n
	}
	return b.with(b.kids[:n:n]), rest
}

func (b *block) splitCode(room, pad int) (head, tail *block) {
	part := func(lines []string) *block { return &block{kind: kindCode, info: b.info, lines: lines} }
	fences := 2*max(3, longestRun(strings.Join(b.lines, "\n"), '`')+1) + len(b.info) + 2*(pad+1)
	n := fitting(len(b.lines), room-fences, func(i int) int {
		line := b.lines[i]
		return len(line) + 3*(len(line)-len(strings.TrimLeft(line, "\t"))) + pad + 2
	})
	if n > 0 {
		return part(b.lines[:n:n]), part(b.lines[n:])
	}
	for r := room; r >= 64 && len(b.lines) > 0; r = r * 3 / 4 {
		first := cut(b.lines[0], r)
		if h := part([]string{first}); h.length(pad) <= room && first != "" && first != b.lines[0] {
			return h, part(append([]string{b.lines[0][len(first):]}, b.lines[1:]...))
		}
	}
	return nil, b
}

func (b *block) splitTable(room, pad int) (head, tail *block) {
	part := func(n, to int) *block {
		t := *b
		t.rows = append([][][]inline{b.rows[0]}, b.rows[n:to]...)
		return &t
	}
	n := fitting(len(b.rows)-1, room-part(1, 1).length(pad), func(i int) int { return len(tableRow(b.rows[i+1])) + 1 + pad })
	if n > 0 {
		return part(1, n+1), part(n+1, len(b.rows))
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
	return q.split(room, pad)
}

func (b *block) splitText(room, pad int) (head, tail *block) {
	part := func(in []inline) *block {
		c := *b
		c.inl = in
		return &c
	}
	n := fitting(len(b.inl), room-b.level-pad-2, func(i int) int {
		w := &writer{heading: b.kind == kindHeading}
		w.inlines(b.inl[i : i+1])
		return w.b.Len() + (pad+1)*strings.Count(w.String(), "\n") + 4 // escapes that its neighbours may call for
	})
	if n > 0 {
		return part(b.inl[:n:n]), part(b.inl[n:])
	}
	if len(b.inl) == 0 {
		return nil, b
	}
	first := b.inl[0]
	if !first.words() {
		first = inline{kind: kindText, s: strings.ReplaceAll(flatText([]inline{first}), "\n", " ")}
	}
	for r := room; r >= 64; r = r * 3 / 4 {
		s := cut(first.s, r)
		if h := part([]inline{{kind: first.kind, s: s}}); s != "" && len(s) < len(first.s) && h.length(pad) <= room {
			rest := inline{kind: first.kind, s: first.s[len(s):]}
			return h, part(append([]inline{rest}, b.inl[1:]...))
		}
	}
	return nil, b
}
