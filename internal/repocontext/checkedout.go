package repocontext

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
)

// Attributes by which git writes another text into a working tree or an archive than the commit holds.
const (
	attributeEncoding = "working-tree-encoding"
	attributeIdent    = "ident"
	attributeSubst    = "export-subst"
)

// mostReplaced is how many files that nobody changed are looked into, for what git now replaces in them.
const mostReplaced = 200

// plain reports whether text in an encoding of a working tree is the bytes that are shown.
func plain(encoding string) bool {
	return encoding == "" || encoding == "unset" || strings.EqualFold(encoding, "utf-8") || strings.EqualFold(encoding, "utf8")
}

// readConverted takes out files of which people, builds and packages get another text than is shown: attributes at the base, or at the head, have git
// write them in another encoding, or replace something in them. So it does with files of attributes that have git do so with files nobody changed.
func (b *builder) readConverted(ctx context.Context, base, head attributes) error {
	var ask []int
	for i := range b.o.Diff.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		switch p := f.Path; {
		case bf.Omitted != "" || f.Change == diff.Deleted:
		case !plain(base[p][attributeEncoding]) || !plain(head[p][attributeEncoding]):
			bf.Omitted = OmittedConverted
		case base.replaces(p) || head.replaces(p):
			ask = append(ask, i)
		}
	}
	replaced, err := b.replaced(ctx, b.paths(ask))
	if err != nil {
		return err
	}
	for _, i := range ask {
		if replaced[b.o.Diff.Files[i].Path] {
			b.brief.Files[i].Omitted = OmittedConverted
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
	var ask []string
	for _, p := range paths {
		if now := head[p][attributeEncoding]; !plain(now) && now != base[p][attributeEncoding] {
			return true, nil
		}
		if head.replaces(p) && !base.replaces(p) {
			ask = append(ask, p)
		}
	}
	if len(ask) > mostReplaced {
		return true, nil
	}
	replaced, err := b.replaced(ctx, ask)
	return len(replaced) > 0, err
}

// replaces reports whether git puts something into a file where it holds words for that.
func (a attributes) replaces(p string) bool {
	return a.on(p, attributeIdent) || a.on(p, attributeSubst)
}

// replaced are those of some files at the head that hold such words, and those that are too large to know.
func (b *builder) replaced(ctx context.Context, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	for batch := range slices.Chunk(paths, diffBatch) {
		texts, err := b.src.ReadFiles(ctx, b.o.Head, batch, sourceLimit)
		if err != nil {
			return nil, err
		}
		for _, p := range batch {
			if text, ok := texts[p]; !ok || bytes.Contains(text, []byte("$Id:")) || bytes.Contains(text, []byte("$Format:")) {
				out[p] = true
			}
		}
	}
	return out, nil
}
