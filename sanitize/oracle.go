package sanitize

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/prloop/prloop/internal/lazyregexp"
)

// oracleParser reads with everything on that GitHub reads: HTML, bare addresses, footnotes. It shares nothing with the
// parser results are made with.
var oracleParser = sync.OnceValue(func() parser.Parser {
	p := goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList, extension.Footnote)).Parser()
	p.AddOptions(parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)))
	return p
})

var (
	liveWord = lazyregexp.New(`(?i)@[a-z0-9]|#[0-9]|\bgh-[0-9]|(?:https?|ftp)://[^\s]|\bwww\.[a-z]`)
	// calledBot, ghprbPhrase and approving are orders that bots look for anywhere.
	calledBot   = lazyregexp.New(`(?i)@[a-z0-9]|/(?:oc|opencode)`)
	ghprbPhrase = lazyregexp.New(`(?i)test[^0-9a-z_]+this[^0-9a-z_]+please|add[^0-9a-z_]+to[^0-9a-z_]+(?:white|allow)list|ok[^0-9a-z_]+to[^0-9a-z_]+test`)
	approving   = lazyregexp.New(`:[+-]1:|[👍👎]|==(?:MERGE_WHEN_(?:READY|GREEN)|DO_NOT_MERGE)==`)
	summaryLine = lazyregexp.New(`^<summary>((?:[^<>]|<(?:code|b|i)>[^<>]*</(?:code|b|i)>)*)</summary>$`)
	htmlCode    = lazyregexp.New(`<code>[^<>]*</code>`)
	htmlTag     = lazyregexp.New(`</?(?:b|i)>`)
)

// check is the oracle over the exact bytes of a comment (threats.md S11).
func check(s string, p Policy) error {
	h, ok := readHeader(s)
	switch {
	case len(s) > Cap:
		return fmt.Errorf("%w: %d bytes are more than %d", ErrUnsafe, len(s), Cap)
	case !ok:
		return fmt.Errorf("%w: the marker is not its first line", ErrUnsafe)
	case strings.Count(s, markWord) != 1:
		return fmt.Errorf("%w: there is more than one marker", ErrUnsafe)
	case Leaks(h.rest, p):
		return fmt.Errorf("%w: %w", ErrUnsafe, ErrKnownSecret)
	}
	body, block := splitNote(h.rest)
	if block != "" {
		if err := checkBlock(block, p); err != nil {
			return err
		}
	}
	return checkBody(body, mode{policy: p, body: true})
}

// checkBody is the oracle over a text without its markers. It names the first thing it finds.
func checkBody(s string, m mode) error {
	switch {
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: it is not valid UTF-8", ErrUnsafe)
	case clean(s) != s:
		return fmt.Errorf("%w: it holds hidden characters", ErrUnsafe)
	case dropMarkers(s) != s:
		return fmt.Errorf("%w: it holds a marker or a bot's name", ErrUnsafe)
	case diffWords.MatchString(s):
		return fmt.Errorf("%w: it holds a diff", ErrUnsafe)
	case redactOwn(s) != s:
		return fmt.Errorf("%w: it holds a secret or a diff", ErrUnsafe)
	}
	for line := range strings.SplitSeq(s, "\n") { // raw, as bots read it: fences and quotes protect nothing
		if orderAt(line) >= 0 {
			return fmt.Errorf("%w: a line is an order to a bot: %.60q", ErrUnsafe, line)
		}
	}
	if found := heard(s, m); found != "" {
		return fmt.Errorf("%w: a bot finds an order in it: %.60q", ErrUnsafe, found)
	}
	src := []byte(s)
	o := verifier{mode: m, src: src}
	doc := oracleParser().Parse(text.NewReader(src))
	if err := ast.Walk(doc, o.visit); err != nil {
		return err
	}
	if o.open != 0 {
		return fmt.Errorf("%w: a details block is not closed", ErrUnsafe)
	}
	return nil
}

// heard is what a bot that looks everywhere finds, in code and in addresses too but for those of the repository's own pages. It shares with
// the gate only the names that are left whole.
func heard(s string, m mode) string {
	if m := approving.FindString(s); m != "" {
		return m
	}
	if !strings.ContainsAny(s, "@/") && !strings.Contains(strings.ToLower(s), "to") && !strings.Contains(strings.ToLower(s), "this") {
		return ""
	}
	if m := ghprbPhrase.FindString(s); m != "" && !strings.Contains(m, "://") {
		return m
	}
	for _, at := range calledBot.FindAllStringIndex(s, -1) {
		word := s[strings.LastIndexAny(s[:at[0]], " \t\r\n<>\"`|\\(")+1:]
		if url, _, _ := strings.Cut(word, ")"); strings.HasPrefix(url, "https://") {
			url = url[:cutAt(url)]
			if own, ok := m.page(url); ok && own == url {
				continue
			}
		}
		if s[at[0]] != '@' || !whole(s[:at[0]], s[at[0]+1:]) {
			return s[at[0]:]
		}
	}
	return ""
}

// cutAt is where an address that s begins with ends.
func cutAt(s string) int {
	if n := strings.IndexAny(s, " \t\r\n<>\"`|\\"); n >= 0 {
		return n
	}
	return len(s)
}

type verifier struct {
	mode
	src []byte
	// open counts details blocks that are open.
	open int
}

func (o *verifier) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Image:
		return ast.WalkStop, fmt.Errorf("%w: it shows an image", ErrUnsafe)
	case *ast.RawHTML:
		return ast.WalkStop, fmt.Errorf("%w: it holds HTML: %q", ErrUnsafe, n.Segments.Value(o.src))
	case *east.Footnote, *east.FootnoteLink, *east.FootnoteList:
		return ast.WalkStop, fmt.Errorf("%w: it holds a footnote", ErrUnsafe)
	case *east.TaskCheckBox:
		return ast.WalkStop, fmt.Errorf("%w: it holds a box to tick", ErrUnsafe)
	case *ast.HTMLBlock:
		return o.tags(string(htmlBlock(n, o.src)))
	case *ast.Link:
		return o.address(string(n.Destination))
	case *ast.AutoLink:
		return o.address(string(n.URL(o.src)))
	case *ast.FencedCodeBlock:
		if n.Info != nil && language(string(n.Info.Segment.Value(o.src))) != string(n.Info.Segment.Value(o.src)) {
			return ast.WalkStop, fmt.Errorf("%w: a code block is of kind %q", ErrUnsafe, n.Info.Segment.Value(o.src))
		}
		return ast.WalkSkipChildren, nil
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *east.TableCell:
		return o.prose(n)
	}
	return ast.WalkContinue, nil
}

func (o *verifier) address(dest string) (ast.WalkStatus, error) {
	if url, ok := o.page(dest); !ok || url != dest {
		return ast.WalkStop, fmt.Errorf("%w: it links to %q", ErrUnsafe, dest)
	}
	return ast.WalkContinue, nil
}

// tags accepts the template's tags and nothing else.
func (o *verifier) tags(block string) (ast.WalkStatus, error) {
	for line := range strings.SplitSeq(block, "\n") {
		switch sub := summaryLine.FindStringSubmatch(line); {
		case line == "":
		case !o.body:
			return ast.WalkStop, fmt.Errorf("%w: it holds HTML: %q", ErrUnsafe, line)
		case line == "<details>":
			o.open++
		case line == "</details>" && o.open > 0:
			o.open--
		case sub != nil && o.open > 0:
			words := htmlTag.ReplaceAllString(htmlCode.ReplaceAllString(sub[1], "\uFFFC"), "")
			if liveWord.MatchString(decodeEntities(words)) {
				return ast.WalkStop, fmt.Errorf("%w: a summary refers to something: %q", ErrUnsafe, line)
			}
		default:
			return ast.WalkStop, fmt.Errorf("%w: it holds HTML: %q", ErrUnsafe, line)
		}
	}
	return ast.WalkContinue, nil
}

// prose looks for what GitHub would turn into a mention or reference.
func (o *verifier) prose(n ast.Node) (ast.WalkStatus, error) {
	var b strings.Builder
	o.visible(&b, n)
	if words := decodeEntities(b.String()); mayBeActive(words) {
		if at := liveWord.FindStringIndex(words); at != nil {
			return ast.WalkStop, fmt.Errorf("%w: it refers to something: %.60q", ErrUnsafe, words[at[0]:])
		}
	}
	return ast.WalkContinue, nil
}

// visible writes what a reader sees of a block; code and links, in which GitHub looks for nothing, become a mark.
func (o *verifier) visible(b *strings.Builder, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.CodeSpan, *ast.Link, *ast.AutoLink:
			b.WriteRune('\uFFFC')
		case *ast.Text:
			b.WriteString(literal(c.Segment.Value(o.src)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			o.visible(b, c)
		}
	}
}

// CheckLine is the oracle over one line of words, such as a title: nothing hidden, no secret, and no order to a bot.
func CheckLine(s string, p Policy) error {
	switch {
	case !utf8.ValidString(s), clean(s) != s, strings.ContainsAny(s, "\r\n\t"):
		return fmt.Errorf("%w: a line holds hidden characters, or several lines", ErrUnsafe)
	case Leaks(s, p):
		return fmt.Errorf("%w: %w", ErrUnsafe, ErrKnownSecret)
	case redactOwn(s) != s:
		return fmt.Errorf("%w: a line holds a secret", ErrUnsafe)
	case strings.Contains(s, markWord), orderAt(s) >= 0:
		return fmt.Errorf("%w: a line is an order to a bot: %.60q", ErrUnsafe, s)
	}
	return nil
}
