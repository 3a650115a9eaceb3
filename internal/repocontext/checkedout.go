package repocontext

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
)

// Attributes by which git writes another text into a working tree or an archive than the commit holds.
const (
	attributeEncoding = "working-tree-encoding"
	attributeIdent    = "ident"
	attributeSubst    = "export-subst"
)

// mostReplaced is how many files that nobody changed are looked into, for what git now writes of them.
const mostReplaced = 200

// wideEncodings are those in which a letter of ASCII is itself beside bytes of nothing: every reader takes a text of such letters for the same.
var wideEncodings = lazyregexp.New(`(?i)^utf-?(16|32)(-?[lb]e)?(-bom)?$`)

// plain reports whether text in an encoding of a working tree is the bytes that are shown.
func plain(encoding string) bool {
	return encoding == "" || encoding == "unset" || strings.EqualFold(encoding, "utf-8") || strings.EqualFold(encoding, "utf8")
}

// converts reports whether git may write another text of a file than the commit holds.
func (a attributes) converts(p string) bool {
	return !plain(a[p][attributeEncoding]) || a.on(p, attributeIdent) || a.on(p, attributeSubst)
}

// keeps reports whether what git writes of a file is the text that is shown all the same. A text that could not be read may be any.
func (a attributes) keeps(p string, text []byte, read bool) bool {
	switch encoding := a[p][attributeEncoding]; {
	case !a.converts(p):
		return true
	case !read:
		return false
	case !plain(encoding) && !(wideEncodings.MatchString(encoding) && !bytes.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })):
		return false
	}
	return !(a.on(p, attributeIdent) && bytes.Contains(text, []byte("$Id:"))) && !(a.on(p, attributeSubst) && bytes.Contains(text, []byte("$Format:")))
}

// readConverted takes out files of which people, builds and packages get another text than is shown: attributes at the base, or at the head, have git
// write them in another encoding, or replace something in them. So it does with files of attributes that have git do so with files nobody changed.
func (b *builder) readConverted(ctx context.Context, base, head attributes) error {
	var ask []int
	for i := range b.o.Diff.Files {
		f := &b.o.Diff.Files[i]
		if b.brief.Files[i].Omitted == "" && f.Change != diff.Deleted && (base.converts(f.Path) || head.converts(f.Path)) {
			ask = append(ask, i)
		}
	}
	for batch := range slices.Chunk(ask, diffBatch) {
		texts, err := b.src.ReadFiles(ctx, b.o.Head, b.paths(batch), sourceLimit)
		if err != nil {
			return err
		}
		for _, i := range batch {
			p := b.o.Diff.Files[i].Path
			if text, read := texts[p]; !base.keeps(p, text, read) || !head.keeps(p, text, read) {
				b.brief.Files[i].Omitted = OmittedConverted
			}
		}
	}
	return b.readAttributesFiles(ctx)
}

// readAttributesFiles takes out files of attributes that change what git writes of files nobody changed.
func (b *builder) readAttributesFiles(ctx context.Context) error {
	var changed []string
	for i := range b.o.Diff.Files {
		changed = append(changed, b.o.Diff.Files[i].Path)
	}
	slices.Sort(changed)
	for i := range b.o.Diff.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		for _, name := range []string{f.Path, f.OldPath} {
			if bf.Omitted != "" || path.Base(name) != ".gitattributes" {
				continue
			}
			others, err := b.src.Files(ctx, b.o.Head, strings.TrimSuffix(path.Dir(name), "."))
			if err != nil {
				return err
			}
			others = slices.DeleteFunc(others, func(p string) bool { _, found := slices.BinarySearch(changed, p); return found })
			converts, err := b.convertsNow(ctx, others)
			if err != nil {
				return err
			}
			if converts {
				bf.Omitted = OmittedConverted
			}
		}
	}
	return nil
}

// convertsNow reports whether the head's attributes have git write some file differently than those of the base had.
func (b *builder) convertsNow(ctx context.Context, paths []string) (bool, error) {
	base, err := readAttributes(ctx, b.src, b.o, b.o.Base, paths)
	if err != nil {
		return false, err
	}
	head, err := readAttributes(ctx, b.src, b.o, b.o.Head, paths)
	if err != nil {
		return false, err
	}
	ask := slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		return !head.converts(p) || maps.Equal(base[p], head[p])
	})
	if len(ask) > mostReplaced {
		return true, nil
	}
	texts, err := b.src.ReadFiles(ctx, b.o.Head, ask, sourceLimit)
	return slices.ContainsFunc(ask, func(p string) bool { text, read := texts[p]; return !head.keeps(p, text, read) }), err
}
