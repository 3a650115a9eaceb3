package evidence

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// factLetters is how many letters and digits a fact has at least: a bracket stands everywhere.
const factLetters = 12

// Fact establishes whether a fact stands at the reviewed commit and says more than the finding it speaks of. What the change removed
// is no fact, and neither is what only the diff shows. The result says where a fact stands that stands there once.
func (c *Checker) Fact(ctx context.Context, fact *review.Fact, about review.Finding) (Result, error) {
	if fact == nil {
		return Result{Status: None}, nil
	}
	no := func(reason string) (Result, error) { return Result{Status: False, Reason: reason}, nil }
	name := c.File(fact.File)
	if c.Excluded(name) {
		return no("is about a file that is excluded by configuration")
	}
	head, err := c.Read(ctx, c.head, name)
	quote := Fold(fact.Evidence)
	switch {
	case err != nil:
		return Result{}, err
	case !head.Exists:
		return no("names a file that does not exist at the reviewed commit")
	case letters(strings.ReplaceAll(uncommented(fact.Evidence), sanitize.Redacted, "")) < factLetters:
		return no("quotes too little code to show anything")
	case !quotes(head.folded, quote):
		return no("quotes code that is not in the file at the reviewed commit")
	case name == about.File && (strings.Contains(Fold(about.Evidence), quote) || strings.Contains(Fold(about.Description), quote)):
		return no("quotes only what the finding itself quotes")
	}
	first, last := span(fileLines(head.text, true), fact.Evidence)
	return Result{Status: Verified, LineDropped: fact.Line != nil && *fact.Line > head.lines, Line: first, LineEnd: last}, nil
}

// proseEndings are those of files that people read and no program does.
var proseEndings = []string{".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".asciidoc", ".org", ".rdoc", ".textile", ".wiki"}

// OwnProse reports whether a file is prose that the change touches: as a comment in code, it says what whoever made the change wants to have
// said. A finding about such a file may be refuted by it.
func (c *Checker) OwnProse(file string, about review.Finding) bool {
	name := c.File(file)
	_, changed := c.changed[name]
	return changed && name != about.File && slices.Contains(proseEndings, strings.ToLower(path.Ext(spelling.Raw(name))))
}

// uncommented is a quote without the lines that are comments by how they begin: whoever made the change wrote them, and can have
// written them for this purpose. Of several languages it knows none, so a line that only begins like one goes too.
func uncommented(quote string) string {
	var b strings.Builder
	for line := range strings.Lines(quote) {
		text := strings.TrimSpace(line)
		if !slices.ContainsFunc([]string{"//", "/*", "*", "#", "--", "<!--", ";", "%"}, func(mark string) bool { return strings.HasPrefix(text, mark) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func letters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
