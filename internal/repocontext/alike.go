package repocontext

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
)

// tellApart takes out files in which a changed word reads as another one does. Every byte that is no UTF-8 is shown as the same
// character (decision 33), so two names of a program that differ in such bytes are one for whoever reads it.
func (b *builder) tellApart(ctx context.Context, batch []int) error {
	for _, i := range batch {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		if bf.Omitted != "" || !strings.Contains(spelling.Text(f.Raw), "\ufffd") {
			continue
		}
		words := map[string]string{} // by how they read
		alike := false
		note := func(text string) {
			for word := range strings.FieldsFuncSeq(text, outsideWord) {
				if read := spelling.Text(word); strings.Contains(read, "\ufffd") {
					alike = alike || words[read] != "" && words[read] != word
					words[read] = word
				}
			}
		}
		for l := range f.Added() {
			note(l.Text)
		}
		for l := range f.Removed() {
			note(l.Text)
		}
		for _, side := range []struct {
			there        bool
			commit, path string
		}{
			{f.Change != diff.Deleted, b.o.Head, f.Path}, {f.Change != diff.Added, cmp.Or(b.o.From, b.o.Base), cmp.Or(f.OldPath, f.Path)},
		} {
			if !side.there || len(words) == 0 || alike {
				continue
			}
			texts, err := b.src.ReadFiles(ctx, side.commit, []string{side.path}, sourceLimit)
			if err != nil {
				return err
			}
			text, ok := texts[side.path]
			alike = alike || !ok
			for word := range strings.FieldsFuncSeq(string(text), outsideWord) {
				changed := words[spelling.Text(word)]
				alike = alike || changed != "" && changed != word
			}
		}
		if alike {
			bf.Omitted = OmittedEncoding
		}
	}
	return nil
}

// outsideWord reports whether a character ends a word. One that is no UTF-8, or above ASCII, is part of it, as in languages that
// let names hold any byte.
func outsideWord(r rune) bool {
	return r < utf8.RuneSelf && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
