package repocontext

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

var (
	// declaration is how a comment names the encoding of its file (PEP 263; Ruby and editors write it alike).
	declaration = lazyregexp.New(`coding[:=][ \t]*([-_.A-Za-z0-9]+)`)
	// comment is a line that is nothing else, and nothing a line before which such a comment may stand. A return ends a line for some readers.
	comment = lazyregexp.New(`^(?:\x{feff})?[ \t\f\r]*#`)
	nothing = lazyregexp.New(`^(?:\x{feff})?[ \t\f]*(?:[#\r]|$)`)
	// byteEncodings are those in which a byte is a letter, and one of ASCII is what it is there; UTF-8 is one of them here. Names have a - for each _.
	byteEncodings = lazyregexp.New(`^(?:utf-?8(?:-.*)?|u8|utf|cp65001|(?:us-?)?ascii|646|(?:iso-?)?latin-?[0-9]{0,2}|l[0-9]{1,2}|(?:iso-?)?8859(?:-?[0-9]{1,2})?|` +
		`(?:cp|windows-|ibm)?(?:437|720|737|775|819|85[0-8]|86[0-35-69]|874|1125|125[0-8])|koi8-[rtu]|mac-?(?:roman|latin2|cyrillic|greek|turkish)|tis-?620)(?:-(?:unix|dos|mac))?$`)
	// pairEncodings are those in which some letters are two bytes, of which the second may be one of ASCII; ASCII alone is what it is there.
	pairEncodings = lazyregexp.New(`^(?:s-?jis|shift-?jis|ms-?kanji|(?:cp|ms)?(?:932|936|949|950)|windows-31j|gbk|gb-?2312|gb-?18030|euc-?(?:jp|kr|cn)|ujis|u-jis|big5(?:-?hkscs)?|uhc|johab|` +
		`(?:cp|ms)1361|chinese|korean)(?:-(?:unix|dos|mac))?$`)
)

// pythons are the languages whose files Python may run: its own, and none that is known by a name.
var pythons = []string{"python", ""}

// readDeclared takes out files that say they are in an encoding in which their bytes are not the letters that are shown: a
// program may be written there that nobody can have read. Python obeys what a file says, for plain ASCII too, and runs files of any name, so what
// is in no known language counts as its own; elsewhere it matters for bytes that are no UTF-8.
func (b *builder) readDeclared(ctx context.Context, batch []int) error {
	for _, side := range []struct {
		commit string
		path   func(*diff.File) string
	}{
		{b.o.Head, func(f *diff.File) string {
			if f.Change == diff.Deleted {
				return ""
			}
			return f.Path
		}},
		{cmp.Or(b.o.From, b.o.Base), func(f *diff.File) string {
			if f.Change == diff.Added {
				return ""
			}
			return cmp.Or(f.OldPath, f.Path)
		}},
	} {
		var asked []int
		var names []string
		for _, i := range batch {
			f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
			some, _ := unreadable(f)
			if name := side.path(f); name != "" && bf.Omitted == "" && (slices.Contains(pythons, bf.Language) || some) {
				asked, names = append(asked, i), append(names, name)
			}
		}
		if len(asked) == 0 {
			continue
		}
		texts, err := b.src.Begins(ctx, side.commit, names, beginning)
		if err != nil {
			return err
		}
		for n, i := range asked {
			if some, run := unreadable(&b.o.Diff.Files[i]); !asShown(texts[names[n]], some && !run) {
				b.brief.Files[i].Omitted = OmittedDeclared
			}
		}
	}
	return nil
}

// unreadable reports whether changed lines hold bytes that are no UTF-8, and whether several stand in a row: then the file counts as unread
// though it is shown.
func unreadable(f *diff.File) (some, run bool) {
	if !strings.Contains(spelling.Text(f.Raw), "\ufffd") {
		return false, false
	}
	note := func(line string) {
		line = spelling.Text(line)
		some, run = some || strings.Contains(line, "\ufffd"), run || strings.Contains(line, "\ufffd\ufffd")
	}
	for l := range f.Added() {
		note(l.Text)
	}
	for l := range f.Removed() {
		note(l.Text)
	}
	return some, run
}

// asShown reports whether changed lines of a text are what is shown of them, by the encoding that a comment alone in its first line declares, or
// in its second line below an empty one or a comment. foreign is
// true when bytes that are no UTF-8 are shown in these lines as if each were a letter. What a comment declares that is too long to be read nobody knows.
func asShown(text []byte, foreign bool) bool {
	lines := bytes.SplitN(text, []byte("\n"), 3)
	for n, line := range lines[:min(2, len(lines))] {
		if n == 1 && !nothing.Match(lines[0]) {
			break
		}
		if n == len(lines)-1 && len(text) == beginning && nothing.Match(line) {
			return false
		}
		if !comment.Match(line) {
			continue
		}
		for _, m := range declaration.FindAllStringSubmatch(string(line), -1) {
			name := strings.ToLower(strings.ReplaceAll(m[1], "_", "-"))
			if !byteEncodings.MatchString(name) && (foreign || !pairEncodings.MatchString(name)) {
				return false
			}
		}
	}
	return true
}
