package webfetch

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/prloop/prloop/internal/lazyregexp"
)

var (
	// coded are elements whose text is code, pictured those that hold no text of the page, broken those that begin and end a line.
	coded    = []string{"script", "style"}
	pictured = []string{"head", "svg"}
	broken   = []string{"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "section", "article", "ul", "ol", "table", "blockquote"}

	blanks = lazyregexp.New(`\n\s*\n+`)
)

// words are what a person would read of a page. The result is data for a model, not markup for a browser: it has to be short, not safe. A page is
// gone over once, however it is made: it was written by others.
func words(page string) string {
	z := html.NewTokenizer(strings.NewReader(page))
	var out []byte
	code := false
	from := map[string]int{} // where the text of the pictured element that is open begins in out
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return strings.TrimSpace(blanks.ReplaceAllString(string(out), "\n"))
		case html.TextToken:
			if !code {
				out = append(out, z.Text()...)
			}
		case html.CommentToken:
			out = append(out, ' ')
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag, _ := z.TagName()
			name := string(tag)
			begins, known := from[name]
			switch {
			case slices.Contains(coded, name) && kind != html.SelfClosingTagToken:
				if code = kind == html.StartTagToken; code {
					out = append(out, ' ')
				}
			case slices.Contains(pictured, name) && kind == html.StartTagToken && !known:
				from[name] = len(out)
			case known && kind == html.EndTagToken: // one that never ends hides nothing
				out = append(out[:min(begins, len(out))], ' ')
				delete(from, name)
			case slices.Contains(broken, name):
				out = append(out, '\n')
			}
			if !code { // else a title or a text area without an end would hide the rest
				z.NextIsNotRawText()
			}
		}
	}
}
