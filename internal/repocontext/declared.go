package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

var (
	// spoken is how a comment in one of a file's first two lines names the encoding of the file: PEP 263, pip, Ruby and editors all read that, each a
	// little otherwise. A return ends a line for some readers, and is a blank for others.
	spoken = lazyregexp.New(`(?i)coding[\s\v]*[:=][\s\v]*["']?([-_.a-z0-9]+)`)
	// comment is a line that is nothing else.
	comment = lazyregexp.New(`^(?:\x{feff})?[ \t\f\v\r]*[#;]`)
	// markup is a text that begins as markup, or a style sheet that says what it is in; attribute is how those name it, but for what a tag says.
	markup    = lazyregexp.New(`^(?:\x{feff})?(?:\s*<|@charset)`)
	attribute = lazyregexp.New(`(?i)(?:<\?xml\s[^>]*encoding\s*=|pageencoding\s*=|^(?:\x{feff})?@charset)\s*["']?\s*([^\s"'<>;/]+)`)
	// pageTag is a tag in which a page says it, wherever it stands, with all that may belong to it; charset is how.
	pageTag = lazyregexp.New(`(?i)<(?:meta[\s/]|%@|jsp:directive)(?:=\s*"[^"]*"|=\s*'[^']*'|[^>])*`)
	charset = lazyregexp.New(`(?i)(?:charset|pageencoding)\s*=[^a-z0-9]*([-_.:a-z0-9]+)`)
	// byteEncodings are those in which a byte is a letter, and one of ASCII is what it is there; UTF-8 is one of them here. Names have one - between
	// their parts, as Python takes them.
	byteEncodings = lazyregexp.New(`^(?:utf-?8(?:-.*)?|u8|utf|cp65001|(?:us-?)?ascii|646|(?:cp|windows-|ibm)?(?:437|720|737|775|85[0-8]|86[0-35-69]|874|1125|125[0-8])|` +
		`koi8-[rtu]|mac-?(?:roman|latin2|cyrillic|greek|turkish))` + editors)
	// isoEncodings are as those, but for a byte that ends a line and is a half of letters of UTF-8.
	isoEncodings = lazyregexp.New(`^(?:(?:iso-?)?latin-?[0-9]{0,2}|l[0-9]{1,2}|(?:iso-?)?8859(?:-?[0-9]{1,2})?|(?:cp|windows-|ibm)?819|tis-?620)` + editors)
	// pairEncodings are those in which some letters are two bytes, of which the second may be one of ASCII; ASCII alone is what it is there.
	pairEncodings = lazyregexp.New(`^(?:(?:x-)?s-?jis|shift-?jis|ms-?kanji|(?:cp|ms|win)?(?:932|936|949|950)|windows-31j|gbk|gb-?2312|gb-?18030|euc-?(?:jp(?:ms)?|kr|cn)|ujis|u-jis|big5(?:-?hkscs)?|uhc|johab|` +
		`(?:cp|ms)1361|chinese|korean)` + editors)
	// codecs is what names of encodings look like, as far as they are none of those: all that Python, Java and browsers have.
	codecs = lazyregexp.New(`[0-9]|^(?:cs|ebcdic|hz|iso-|mac|raw-|unicode|x-)|^(?:ansi|arabic|charmap|cp-.*|cyrillic.*|dbcs|greek|hebrew|hkscs|idna|jis.*|mbcs|oem|palmos|punycode|ruscii|thai|undefined|us)$`)
)

const (
	// editors are what Emacs adds to the name of an encoding.
	editors = `(?:-(?:unix|dos|mac))?$`
	// lineEnd is the byte that ends a line in isoEncodings: for Python, also in what pip reads, and for XML.
	lineEnd = "\x85"
)

// obeying are languages of which somebody takes any name in such a comment for one of an encoding; of files without a known language nobody knows.
var obeying = []string{"", "python", "ruby", "emacs lisp", "text", "pip requirements"}

// pages are languages of what may become a page, or a part of one.
var pages = []string{"", "html", "vue", "svelte", "astro", "html+erb", "handlebars", "jinja", "go template", "php", "xml", "xslt", "svg", "text"}

// prose are languages in which a # begins a heading, and nothing obeys what is written there.
var prose = []string{"markdown", "mdx", "restructuredtext", "asciidoc"}

// readDeclared takes out files that say they are in an encoding in which their bytes are not the letters that are shown: a program may be written
// there that nobody can have read. The name of a file does not tell who obeys it: Python runs files of any name, and pip reads what it is given.
func (b *builder) readDeclared(ctx context.Context, batch []int) error {
	asked := slices.DeleteFunc(slices.Clone(batch), func(i int) bool { return b.brief.Files[i].Omitted != "" })
	now, err := b.declarations(ctx, asked, b.o.Head, func(f *diff.File) string { return f.Path }, diff.Deleted)
	if err != nil {
		return err
	}
	before, err := b.declarations(ctx, asked, cmp.Or(b.o.From, b.o.Base), func(f *diff.File) string { return cmp.Or(f.OldPath, f.Path) }, diff.Added)
	if err != nil {
		return err
	}
	for _, i := range asked {
		if !asShown(&b.o.Diff.Files[i], before[i], now[i]) {
			b.brief.Files[i].Omitted = OmittedDeclared
		}
	}
	return nil
}

// declaration is what one side of a change says of its encoding.
type declaration struct {
	names    []string // of encodings in which not every byte is a letter of its own
	letters  bool     // the text may hold others than those of ASCII
	lineEnds bool     // the text may hold lineEnd
}

// declarations are what files declare at a commit, but for those that the change has none of there.
func (b *builder) declarations(ctx context.Context, asked []int, commit string, name func(*diff.File) string, not diff.Change) (map[int]declaration, error) {
	said := map[int]declaration{}
	var names []string
	for _, i := range asked {
		if f := &b.o.Diff.Files[i]; f.Change != not {
			names = append(names, name(f))
		}
	}
	if len(names) == 0 {
		return said, nil
	}
	texts, err := b.beginnings(ctx, commit, names, beginning)
	if err != nil {
		return nil, err
	}
	for _, i := range asked {
		if f := &b.o.Diff.Files[i]; f.Change != not {
			text := texts[name(f)]
			cut := len(text) == beginning // as what is too large to be read whole is
			said[i] = declaration{names: encodings(name(f), text, cut), letters: cut || !ascii(string(text)), lineEnds: cut || !oneLine(string(text))}
		}
	}
	return said, nil
}

// encodings are those that a text says it is in, but for those of single bytes that are all letters; one without a name where it is cut before its second
// line ends.
func encodings(path string, text []byte, cut bool) (names []string) {
	language := lang.Of(path)
	if slices.Contains(prose, language) && !bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	note := func(pattern *lazyregexp.Regexp, text string, harmless ...func(name string) bool) {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			name := encodingName(m[1])
			if !slices.ContainsFunc(harmless, func(is func(string) bool) bool { return is(name) }) {
				names = append(names, name)
			}
		}
	}
	lines := bytes.SplitN(text, []byte("\n"), 3)
	for _, line := range lines[:min(2, len(lines))] {
		if comment.Match(line) {
			note(spoken, string(line), byteEncodings.MatchString, func(name string) bool { return !slices.Contains(obeying, language) && remark(name) })
		}
	}
	if cut && len(lines) < 3 {
		names = append(names, "")
	}
	marked := markup.Match(text)
	if marked { // in a wide encoding it has a NUL beside each letter of ASCII, whatever it says
		note(attribute, string(text), byteEncodings.MatchString, wideEncodings.MatchString)
	}
	if marked || slices.Contains(pages, language) {
		for _, said := range pageTag.FindAllString(string(text), -1) { // no page has other ends of lines than ASCII does
			note(charset, html.UnescapeString(said), byteEncodings.MatchString, isoEncodings.MatchString, wideEncodings.MatchString, remark)
		}
	}
	return append(names, statedEncodings(string(text))...)
}

// encodingName is how Python spells a name of an encoding, and so finds it.
func encodingName(said string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return r == '-' || r == '_' }), "-")
}

// remark reports whether what stands in the place of an encoding is the name of none.
func remark(name string) bool {
	return !slices.ContainsFunc([]*lazyregexp.Regexp{codecs, byteEncodings, isoEncodings, pairEncodings}, func(r *lazyregexp.Regexp) bool { return r.MatchString(name) })
}

// asShown reports whether what changed in a file is what is shown of it, by what it declares before and now. A declaration that comes, goes or
// changes is one about all of its text.
func asShown(f *diff.File, before, now declaration) bool {
	said := slices.Concat(before.names, now.names)
	pairs := slices.DeleteFunc(slices.Clone(said), isoEncodings.MatchString)
	if slices.ContainsFunc(pairs, func(name string) bool { return !pairEncodings.MatchString(name) }) {
		return false
	}
	if len(said) == 0 || unreadRun(f) {
		return true // that counts as unread though it is shown
	}
	kind, others := oneLine, now.lineEnds
	if len(pairs) > 0 {
		kind, others = ascii, now.letters
	}
	if !slices.Equal(before.names, now.names) && others {
		return false
	}
	return changesAll(f, kind)
}

// unreadRun reports whether a changed line holds several bytes in a row that are no UTF-8: then the file counts as unread, and is shown all the same.
func unreadRun(f *diff.File) bool {
	return !changesAll(f, func(line string) bool { return !spelling.HasRun(spelling.Text(line)) })
}

// changesAll reports whether all changed lines of a file are of one kind.
func changesAll(f *diff.File, kind func(line string) bool) bool {
	for _, lines := range []iter.Seq[diff.Line]{f.Added(), f.Removed()} {
		for l := range lines {
			if !kind(l.Text) {
				return false
			}
		}
	}
	return true
}

// ascii reports whether a text holds no other letters.
func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// oneLine reports whether a text has no byte that ends a line where an encoding of ISO is declared.
func oneLine(text string) bool { return !strings.Contains(text, lineEnd) }
