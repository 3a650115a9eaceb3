package sanitize

import "strings"

// blockKind is a kind of block that may stand in a result.
type blockKind int

const (
	kindParagraph blockKind = iota
	kindHeading
	kindQuote
	kindList
	kindItem
	kindCode
	kindRule
	kindTable
	kindDetails
)

// block is one node of the tree that results are written from. What has no kind here cannot be in a result.
type block struct {
	kind blockKind
	// inl is the text of a paragraph or heading, and the summary of a details block.
	inl []inline
	// kids are the blocks of a quote, item or details block, and the items of a list.
	kids []*block
	// level is a heading's depth or an ordered list's first number.
	level int
	// ordered and tight describe a list.
	ordered, tight bool
	// info is the language of a code block, lines its text.
	info  string
	lines []string
	// rows are a table's, the header first; align its columns: 0 none, 1 left, 2 right, 3 centre.
	rows  [][][]inline
	align []int
}

// inlineKind is a kind of inline node that may stand in a result.
type inlineKind int

const (
	kindText inlineKind = iota
	kindSpan            // code
	kindSoft            // a line end
	kindHard            // a line break
	kindEm
	kindStrong
	kindStrike
	kindLink
)

// inline is one inline node. s is the text of a text or code node, or the address of a link.
type inline struct {
	kind inlineKind
	s    string
	kids []inline
}

// flatText is what a reader sees of inline nodes, line ends as newlines.
func flatText(in []inline) string {
	var b strings.Builder
	writeFlat(&b, in)
	return b.String()
}

func writeFlat(b *strings.Builder, in []inline) {
	for _, n := range in {
		switch n.kind {
		case kindText, kindSpan:
			b.WriteString(n.s)
		case kindSoft, kindHard:
			b.WriteByte('\n')
		}
		if len(n.kids) > 0 {
			writeFlat(b, n.kids)
		}
	}
}

// join merges neighbours of one kind: text with text, code with code. Two code spans side by side would be read as one
// with a longer fence.
func join(in []inline) []inline {
	same := true
	for i, n := range in {
		same = same && (!n.words() || n.s != "" && (i == 0 || in[i-1].kind != n.kind))
	}
	if same && in != nil {
		return in
	}
	out := make([]inline, 0, len(in))
	for i := 0; i < len(in); {
		n := in[i]
		i++
		if !n.words() {
			out = append(out, n)
			continue
		}
		from := i
		for i < len(in) && in[i].words() && (in[i].kind == n.kind || in[i].s == "") {
			i++
		}
		if i > from {
			var b strings.Builder
			b.WriteString(n.s)
			for _, next := range in[from:i] {
				b.WriteString(next.s)
			}
			n = inline{kind: n.kind, s: b.String()}
		}
		if n.s != "" {
			out = append(out, n)
		}
	}
	return out
}

// words reports whether n is text or code.
func (n inline) words() bool { return n.kind == kindText || n.kind == kindSpan }

// oneLine turns line ends into spaces, for headings, table cells and summaries.
func oneLine(in []inline) []inline {
	out := make([]inline, 0, len(in))
	for _, n := range in {
		if n.kind == kindSoft || n.kind == kindHard {
			n = inline{kind: kindText, s: " "}
		}
		n.kids = oneLine(n.kids)
		out = append(out, n)
	}
	return join(out)
}

// plainInlines drops emphasis, for texts whose delimiters do not survive a second reading.
func plainInlines(in []inline) []inline {
	var out []inline
	for _, n := range in {
		switch n.kind {
		case kindEm, kindStrong, kindStrike:
			out = append(out, plainInlines(n.kids)...)
		default:
			n.kids = plainInlines(n.kids)
			out = append(out, n)
		}
	}
	return join(out)
}
