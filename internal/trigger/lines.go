package trigger

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/widetables"
)

// markdown reads what GitHub reads in a comment: addresses, tables, footnotes.
var markdown = sync.OnceValue(func() parser.Parser {
	p := goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.Footnote)).Parser()
	p.AddOptions(parser.WithBlockParsers(util.Prioritized(quotes{parser.NewBlockquoteParser()}, 799))) // before goldmark's own
	p.AddOptions(parser.WithParagraphTransformers(util.Prioritized(widetables.Bounded{}, 100), util.Prioritized(extension.NewTableParagraphTransformer(), 200)))
	return p
})

// line is one line of a plain paragraph.
type line struct {
	// text is the line, next the one behind it, if any.
	text, next string
	// block numbers what it is in; heading is true of one above a rule, as a signature has it, where only a stop is heard.
	block   int
	heading bool
	// at is where it begins in words, which has the bytes that are plain text, and blanks for those of code, HTML, links and the like.
	at    int
	words []byte
}

// plain reports whether a part of the line is plain text.
func (l line) plain(from, to int) bool {
	return l.text[from:to] == string(l.words[l.at+from:l.at+to])
}

// mailAddress stands where an answer by mail says whom it quotes: GitHub hides the addresses of people, and has some of its own. Many mail programs quote
// without a mark, so that the words of others look like those of whoever answers.
var mailAddress = lazyregexp.New(`(?i)\*\*\*@\*\*\*\.\*\*\*|\bnotifications@github\.com|@(?:noreply|reply)\.github\.com`)

// blankLine ends a paragraph.
var blankLine = lazyregexp.New(`\n[ \t]*\n`)

// lines are the lines of a comment's paragraphs that stand by themselves: in no quote, list, table or HTML element, and above what a mail quotes.
func lines(comment string) (out []line) {
	comment = strings.ReplaceAll(strings.ToValidUTF8(comment, "\uFFFD"), "\r\n", "\n")
	src, end := []byte(comment), aboveMail(comment)
	words, open, block := bytes.Repeat([]byte{' '}, len(src)), elements(nil), 0
	for n := markdown().Parse(text.NewReader(src)).FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			open = open.after(n.Lines().Value(src))
			if n.HasClosure() {
				open = open.after(n.ClosureLine.Value(src))
			}
		case *ast.Paragraph, *ast.Heading:
			_, heading := n.(*ast.Heading)
			if len(open) > 0 || n.Lines().Len() == 0 || heading && !ruled(n, src) {
				continue
			}
			block++
			keep(n, src, words)
			for i := range n.Lines().Len() {
				seg := n.Lines().At(i)
				if seg.Start >= end {
					return out
				}
				text := src[seg.Start:seg.Stop]
				indent := len(text) - len(bytes.TrimLeft(text, " \t"))
				out = append(out, line{text: strings.TrimRight(string(text[indent:]), " \t\r\n"), block: block, heading: heading, at: seg.Start + indent, words: words})
			}
		}
	}
	return out
}

// ruled reports whether a heading is one by the rule below it, and not by signs before it.
func ruled(heading ast.Node, src []byte) bool {
	return !bytes.HasSuffix(bytes.TrimRight(src[:heading.Lines().At(0).Start], " \t"), []byte("#"))
}

// aboveMail is where what a mail quotes begins in a comment, by the address there: with its paragraph, as a long name before the address stands in lines of its own.
func aboveMail(comment string) int {
	m := mailAddress.FindStringIndex(comment)
	if m == nil {
		return len(comment)
	}
	if blank := blankLine.FindAllStringIndex(comment[:m[0]], -1); blank != nil {
		return blank[len(blank)-1][1]
	}
	return 0
}

// Own is a comment without what it quotes of others: who quotes somebody has not said it (threats.md T854). Whatever stands in a quote is cut with it (threats.md T867). Of
// one that came by mail it is the first paragraph (threats.md T759).
func Own(comment string, mailed bool) string {
	comment = lineEnds.Replace(comment)
	if mailed {
		comment = answer(comment)
	}
	src := []byte(comment[:aboveMail(comment)] + "\n") // so that only what is behind it stands at its end
	pc := parser.NewContext()
	ranges := between(markdown().Parse(text.NewReader(src), parser.WithContext(pc)), src)
	starts := []int{0}
	for line := range bytes.Lines(src) {
		starts = append(starts, starts[len(starts)-1]+len(line))
	}
	lineOf := func(at int) int {
		i, found := slices.BinarySearch(starts, at)
		if !found {
			i--
		}
		return starts[i]
	}
	closed, _ := pc.Get(quotesKey).([]span)
	for _, q := range closed {
		ranges = append(ranges, span{lineOf(q.from), lineOf(q.to)})
	}
	slices.SortFunc(ranges, func(a, b span) int { return a.from - b.from })
	var own []byte
	done := 0
	for _, q := range append(ranges, span{len(src), len(src)}) {
		own = append(own, src[done:max(done, q.from)]...)
		done = max(done, q.to)
	}
	return strings.TrimSpace(string(own))
}

// lineEnds makes all ends of lines that GitHub knows one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// span is a part of a comment.
type span struct{ from, to int }

// quotes is the parser of quotes that keeps where they stand, with the lines that go on without a mark.
type quotes struct{ parser.BlockParser }

// quotesKey is where these are kept while a comment is read: from where a quote begins to a place in the first line behind it.
var quotesKey = parser.NewContextKey()

// Close is called at the first line behind a quote, of which some may be read.
func (quotes) Close(n ast.Node, reader text.Reader, pc parser.Context) {
	_, at := reader.Position()
	all, _ := pc.Get(quotesKey).([]span)
	pc.Set(quotesKey, append(all, span{n.Pos(), at.Start}))
}

// quoteTag begins or ends a quote in HTML, or is another tag, in which such a text may stand.
var quoteTag = lazyregexp.New(`(?i)<(/?)(?:(blockquote)\b|[a-z])(?:"[^"]*"|'[^']*'|[^'">])*>`)

// between are the parts of a comment from a tag that begins a quote to the one that ends it, or to the end.
func between(doc ast.Node, src []byte) (out []span) {
	html := bytes.Repeat([]byte{' '}, len(src))
	add := func(list ...text.Segment) {
		for _, seg := range list {
			copy(html[seg.Start:seg.Stop], src[seg.Start:seg.Stop])
		}
	}
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			add(n.Lines().Sliced(0, n.Lines().Len())...)
			if n.HasClosure() {
				add(n.ClosureLine)
			}
		case *ast.RawHTML:
			add(n.Segments.Sliced(0, n.Segments.Len())...)
		}
		return ast.WalkContinue, nil
	})
	tags := comments.ReplaceAllStringFunc(string(html), func(c string) string { return strings.Repeat(" ", len(c)) })
	depth, from := 0, 0
	for _, m := range quoteTag.FindAllStringSubmatchIndex(tags, -1) {
		switch {
		case m[4] < 0:
		case m[2] == m[3]:
			if depth++; depth == 1 {
				from = m[0]
			}
		case depth > 0:
			if depth--; depth == 0 {
				out = append(out, span{from, m[1]})
			}
		}
	}
	if depth > 0 {
		out = append(out, span{from, len(src)})
	}
	return out
}

// keep copies the bytes of a paragraph that are plain text, emphasised or not. Text between HTML tags is none. What has no end in the paragraph is no tag, but
// a type, as in Vec<u8>.
func keep(n ast.Node, src, words []byte) {
	var open elements
	end := n.Lines().At(n.Lines().Len() - 1).Stop
	ends := func(tag *ast.RawHTML, name string) bool {
		return bytes.Contains(bytes.ToLower(src[tag.Segments.At(0).Start:end]), []byte("</"+name))
	}
	var walk func(ast.Node)
	walk = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.Text:
				if len(open) == 0 {
					copy(words[c.Segment.Start:c.Segment.Stop], c.Segment.Value(src))
				}
			case *ast.RawHTML:
				if after := open.after(c.Segments.Value(src)); len(after) <= len(open) || ends(c, after[len(after)-1]) {
					open = after
				}
			case *ast.Emphasis:
				walk(c)
			}
		}
	}
	walk(n)
	begin := n.Lines().At(0).Start
	for _, m := range aside.FindAllStringIndex(string(words[begin:end]), -1) {
		copy(words[begin+m[0]:], bytes.Repeat([]byte{' '}, m[1]-m[0]))
	}
}

// aside is text that is a formula on GitHub, or that somebody means to strike out: the Markdown parser takes it for plain where lines of their own begin and end it
// (threats.md T852).
var aside = lazyregexp.New(`(?s)\$\$.*?\$\$|~~.*?~~`)

var (
	comments = lazyregexp.New(`(?s)<!--.*?-->`)
	tags     = lazyregexp.New(`<(/?)([A-Za-z][A-Za-z0-9-]*)[^<>]*>`)
	void     = lazyregexp.New(`^(?i:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li)$`)
)

// elements are the names of HTML elements that have begun and not ended. Elements that need no end tag do not count.
type elements []string

// after are the elements that are open behind a piece of HTML, which the Markdown parser has told from text. As browsers read it, an end tag
// ends what is open of its name and nothing else, and a slash at the end of a tag ends nothing.
func (open elements) after(html []byte) elements {
	for _, m := range tags.FindAllStringSubmatch(comments.ReplaceAllString(string(html), ""), -1) {
		name := strings.ToLower(m[2])
		switch {
		case void.MatchString(name):
		case m[1] == "":
			open = append(open, name)
		default:
			for i, known := range slices.Backward(open) {
				if known == name {
					open = open[:i]
					break
				}
			}
		}
	}
	return open
}

// mention finds a mention of an account in the plain text of the line, as GitHub would make one: not in a word, an address or the
// name of another account or team. at is negative when there is none.
func (l line) mention(login string) (at, end int) {
	for from := 0; ; {
		i := strings.IndexByte(l.text[from:], '@')
		if i < 0 {
			return -1, 0
		}
		at, end = from+i, from+i+1+len(login)
		if end <= len(l.text) && strings.EqualFold(l.text[at+1:end], login) && l.plain(at, end) && opens(l.text[:at]) {
			if rest := strings.TrimPrefix(l.text[end:], "[bot]"); closes(rest) {
				return at, len(l.text) - len(rest)
			}
		}
		from = at + 1
	}
}

// opens reports whether a mention can begin behind a text, closes whether it can end before one.
func opens(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune("([{\"'*,;:!?>", r)
}

func closes(after string) bool {
	if after == "" {
		return true
	}
	r, size := utf8.DecodeRuneInString(after)
	if r == '.' { // the end of a sentence, and not a name with a dot
		return len(after) == size || strings.ContainsRune(" \t", rune(after[size]))
	}
	return unicode.IsSpace(r) || strings.ContainsRune(")]}\"'*,;:!?", r)
}
