package evidence

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// factLetters is how many letters and digits a fact has at least: a bracket stands everywhere.
const factLetters = 12

// Fact establishes whether a fact stands at the reviewed commit and says more than the finding it speaks of. What the change removed
// is no fact, and neither is what only the diff shows. One that stands there has the name of its file put right, and the result says where
// it stands if that is one place, or one of them has its line.
func (c *Checker) Fact(ctx context.Context, fact *review.Fact, about review.Finding) (Result, error) {
	if fact == nil {
		return Result{Status: None}, nil
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	no := func(reason string) (Result, error) { return Result{Status: False, Reason: reason}, nil }
	name := c.File(fact.File)
	if c.Excluded(name) {
		return no("is about a file that is excluded by configuration")
	}
	head, err := c.Read(ctx, c.head, name)
	quote, s := Fold(fact.Evidence), search{ruled: c.ruled, known: c.known}
	defer func() { c.ruled = s.ruled }()
	stands, everywhere := s.looked(head.folded, quote)
	switch {
	case err != nil:
		return Result{}, err
	case !head.Exists:
		return no("names a file that does not exist at the reviewed commit")
	case letters(strings.ReplaceAll(uncommented(fact.Evidence), sanitize.Redacted, "")) < factLetters:
		return no("quotes too little code to show anything")
	case !stands && !everywhere:
		return Result{Status: None, Reason: "may stand at more places than are looked at"}, nil
	case !stands:
		return no("quotes code that is not in the file at the reviewed commit")
	case name == about.File && (strings.Contains(Fold(about.Evidence), quote) || strings.Contains(Fold(about.Description), quote)):
		return no("quotes only what the finding itself quotes")
	}
	ev := Result{Status: Verified, LineDropped: fact.Line != nil && *fact.Line > head.lines}
	fact.File = sanitize.MaskSpelled(name)
	all := spans(fileLines(head.text, true), fact.Evidence)
	if len(all) > 1 && fact.Line != nil {
		all = slices.DeleteFunc(all, func(at [2]int) bool { return *fact.Line < at[0] || *fact.Line > at[1] })
	}
	if len(all) == 1 {
		ev.Quoted = all[0]
	}
	return ev, nil
}

// Of what a change touches, a file in the language of a program says what the program does; these say what whoever wrote them wants to have
// said. What people read says no more in any version, what programs read (and pages, which hold programs) when they did so before the change:
// a new file of that kind may be read by nothing.
var (
	prose        = []string{"markdown", "mdx", "restructuredtext", "asciidoc", "tex", "text", "diff", "csv"}
	proseEndings = []string{".org", ".rdoc", ".textile", ".wiki", ".log", ".rtf", ".pod", ".eml"}
	data         = []string{
		"json", "json with comments", "json5", "yaml", "toml", "ini", "java properties", "xml", "edn", "editorconfig", "git config", "git attributes", "ignore list", "codeowners",
		"pip requirements", "go checksums", "html", "html+erb", "svg", "handlebars", "jinja", "go template",
	}
)

// OwnProse reports whether a file, which Fact has read, is prose that the change touches or brings: as a comment in code, it says what whoever made the
// change wants to have said. A finding about such a file may be refuted by it. language names a file's language by its path, empty for none.
func (c *Checker) OwnProse(ctx context.Context, file string, about review.Finding, language func(path string) string) (bool, error) {
	name := c.File(file)
	f, changed := c.changed[name]
	if !changed || name == about.File {
		return false, nil
	}
	raw := spelling.Raw(name)
	lang, ending := language(raw), strings.ToLower(path.Ext(raw))
	switch {
	case slices.Contains(prose, lang), slices.Contains(proseEndings, ending):
		return true, nil
	case slices.Contains(data, lang), lang == "" && ending != "":
		return f.Change == string(diff.Added) || f.Change == string(diff.Copied), nil
	case lang == "":
		head, err := c.Read(ctx, c.head, name)
		return err == nil && !strings.HasPrefix(head.folded, "#!"), err
	}
	return false, nil
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
