package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

var (
	// spoken is how a comment in one of a file's first two lines names the encoding of the file: PEP 263, pip, Ruby and editors all read that, each a
	// little otherwise. A return ends a line for some readers.
	spoken = lazyregexp.New(`(?i)coding[ \t\f\v]*[:=][ \t\f\v]*["']?([-_.a-z0-9]+)`)
	// comment is a line that is nothing else.
	comment = lazyregexp.New(`^(?:\x{feff})?[ \t\f\v\r]*[#;]`)
	// markup is a text that begins as markup, or a style sheet that says what it is in; attribute is how those name it.
	markup    = lazyregexp.New(`^(?:\x{feff})?(?:\s*<|@charset)`)
	attribute = lazyregexp.New(`(?i)(?:<\?xml\s[^>]*encoding\s*=|<meta\s[^>]*charset\s*=|pageencoding\s*=|^(?:\x{feff})?@charset)\s*["']?\s*([^\s"'<>;/]+)`)
	// byteEncodings are those in which a byte is a letter, and one of ASCII is what it is there; UTF-8 is one of them here. Names have a - for each _.
	byteEncodings = lazyregexp.New(`^(?:utf-?8(?:-.*)?|u8|utf|cp65001|(?:us-?)?ascii|646|(?:iso-?)?latin-?[0-9]{0,2}|l[0-9]{1,2}|(?:iso-?)?8859(?:-?[0-9]{1,2})?|` +
		`(?:cp|windows-|ibm)?(?:437|720|737|775|819|85[0-8]|86[0-35-69]|874|1125|125[0-8])|koi8-[rtu]|mac-?(?:roman|latin2|cyrillic|greek|turkish)|tis-?620)(?:-(?:unix|dos|mac))?$`)
	// pairEncodings are those in which some letters are two bytes, of which the second may be one of ASCII; ASCII alone is what it is there.
	pairEncodings = lazyregexp.New(`^(?:(?:x-)?s-?jis|shift-?jis|ms-?kanji|(?:cp|ms)?(?:932|936|949|950)|windows-31j|gbk|gb-?2312|gb-?18030|euc-?(?:jp|kr|cn)|ujis|u-jis|big5(?:-?hkscs)?|uhc|johab|` +
		`(?:cp|ms)1361|chinese|korean)(?:-(?:unix|dos|mac))?$`)
)

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
	names   []string // of encodings in which not every byte is a letter of its own
	letters bool     // the text may hold others than those of ASCII
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
			said[i] = declaration{names: encodings(name(f), text, cut), letters: cut || !ascii(string(text))}
		}
	}
	return said, nil
}

// encodings are those that a text says it is in, but for those of single bytes; one without a name where it is cut before its second line ends.
func encodings(path string, text []byte, cut bool) (names []string) {
	if slices.Contains(prose, Language(path)) && !bytes.HasPrefix(text, []byte("#!")) {
		return nil
	}
	note := func(pattern *lazyregexp.Regexp, text []byte, harmless ...*lazyregexp.Regexp) {
		for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
			name := strings.ToLower(strings.ReplaceAll(m[1], "_", "-"))
			if !slices.ContainsFunc(harmless, func(r *lazyregexp.Regexp) bool { return r.MatchString(name) }) {
				names = append(names, name)
			}
		}
	}
	lines := bytes.SplitN(text, []byte("\n"), 3)
	for _, line := range lines[:min(2, len(lines))] {
		if comment.Match(line) {
			note(spoken, line, byteEncodings)
		}
	}
	if cut && len(lines) < 3 {
		names = append(names, "")
	}
	if markup.Match(text) { // in a wide encoding it has a NUL beside each letter of ASCII, whatever it says
		note(attribute, text, byteEncodings, wideEncodings)
	}
	return names
}

// asShown reports whether what changed in a file is what is shown of it, by what it declares before and now. A declaration that comes, goes or
// changes is one about all of its text.
func asShown(f *diff.File, before, now declaration) bool {
	said := slices.Concat(before.names, now.names)
	if slices.ContainsFunc(said, func(name string) bool { return !pairEncodings.MatchString(name) }) {
		return false
	}
	if len(said) == 0 || unreadRun(f) {
		return true // that counts as unread though it is shown
	}
	if !slices.Equal(before.names, now.names) && now.letters {
		return false
	}
	return changesAll(f, ascii)
}

// unreadRun reports whether a changed line holds several bytes in a row that are no UTF-8: then the file counts as unread, and is shown all the same.
func unreadRun(f *diff.File) bool {
	return !changesAll(f, func(line string) bool { return !strings.Contains(spelling.Text(line), "\ufffd\ufffd") })
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
