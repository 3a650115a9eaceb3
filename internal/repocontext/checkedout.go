package repocontext

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/spelling"
)

// Attributes by which git writes another text into a working tree or an archive than the commit holds.
const (
	attributeEncoding = "working-tree-encoding"
	attributeIdent    = "ident"
	attributeSubst    = "export-subst"
)

// converting are these attributes.
var converting = []string{attributeEncoding, attributeIdent, attributeSubst}

const (
	// mostReplaced is how many files that nobody changed are looked into, for what git now writes of them.
	mostReplaced = 200
	// mostAttributes is how many changed files of attributes are looked into; the others are unread.
	mostAttributes = 1000
)

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

// conversions are what a commit has git do to the texts of files, in each way in which git may understand it: with capitals told from small letters
// first, and then on disks where they are the same.
type conversions []attributes

// readConversions adds the other ways to what is said exactly.
func (b *builder) readConversions(ctx context.Context, commit string, exact attributes, paths []string) (conversions, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	all, err := b.src.AttributesAnyCase(ctx, commit, b.o.unread, paths, converting)
	ways := conversions{exact}
	for _, said := range all {
		ways = append(ways, said)
	}
	return ways, err
}

func (c conversions) converts(p string) bool {
	return slices.ContainsFunc(c, func(a attributes) bool { return a.converts(p) })
}

func (c conversions) keeps(p string, text []byte, read bool) bool {
	return !slices.ContainsFunc(c, func(a attributes) bool { return !a.keeps(p, text, read) })
}

// as reports whether the same is said of a path.
func (c conversions) as(other conversions, p string) bool {
	return slices.EqualFunc(c, other, func(a, b attributes) bool {
		return !slices.ContainsFunc(converting, func(name string) bool { return a[p][name] != b[p][name] })
	})
}

// readConverted takes out files of which people, builds and packages get another text than is shown: attributes at the base, or at the head, have git
// write them in another encoding, or replace something in them. So it does with files of attributes that change what git does of this with files nobody changed.
func (b *builder) readConverted(ctx context.Context, saidBefore, saidNow attributes) error {
	var ask []int
	for i := range b.o.Diff.Files {
		if b.brief.Files[i].Omitted == "" && b.o.Diff.Files[i].Change != diff.Deleted {
			ask = append(ask, i)
		}
	}
	paths := b.paths(ask)
	base, err := b.readConversions(ctx, b.o.Base, saidBefore, paths)
	if err != nil {
		return err
	}
	head, err := b.readConversions(ctx, b.o.Head, saidNow, paths)
	if err != nil {
		return err
	}
	ask = slices.DeleteFunc(ask, func(i int) bool { p := b.o.Diff.Files[i].Path; return !base.converts(p) && !head.converts(p) })
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

// ofAttributes are the folders for which a file speaks under both its names as one of attributes, on some disk at least: folders are known as what their
// names are where case makes no difference.
func ofAttributes(f *diff.File) (folders []string) {
	for _, name := range []string{f.Path, f.OldPath} {
		if folded := spelling.Fold(name); path.Base(folded) == ".gitattributes" {
			folders = append(folders, path.Dir(folded))
		}
	}
	return folders
}

// readAttributesFiles takes out files of attributes that change what git writes of files nobody changed, and those beyond the bound.
func (b *builder) readAttributesFiles(ctx context.Context) error {
	changed, speaking, asked := map[string]bool{}, map[string]bool{}, 0
	for i := range b.o.Diff.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		changed[f.Path] = true
		folders := ofAttributes(f)
		if bf.Omitted != "" || len(folders) == 0 {
			continue
		}
		if asked++; asked > mostAttributes {
			bf.Omitted = omittedMany
			continue
		}
		for _, dir := range folders {
			speaking[dir] = true
		}
	}
	if len(speaking) == 0 {
		return nil
	}
	names, err := b.headNames(ctx)
	if err != nil {
		return err
	}
	within := map[string]bool{} // whether a file of attributes speaks for a folder
	others := slices.DeleteFunc(slices.Clone(names), func(p string) bool {
		dir := path.Dir(p)
		if _, known := within[dir]; !known {
			within[dir] = slices.ContainsFunc(upwards(dir), func(above string) bool { return speaking[above] })
		}
		return changed[p] || !within[dir]
	})
	rewritten, err := b.rewritten(ctx, others)
	if err != nil {
		return err
	}
	hit := map[string]bool{}
	for _, p := range rewritten {
		for _, above := range upwards(path.Dir(p)) {
			hit[above] = true
		}
	}
	for i := range b.o.Diff.Files {
		if bf := &b.brief.Files[i]; bf.Omitted == "" && slices.ContainsFunc(ofAttributes(&b.o.Diff.Files[i]), func(dir string) bool { return hit[dir] }) {
			bf.Omitted = OmittedConverted
		}
	}
	return nil
}

// upwards are a folder and all above it, as what their names are where case makes no difference; the last is the root.
func upwards(dir string) []string {
	all := []string{spelling.Fold(dir)}
	for dir := all[0]; dir != "."; {
		dir = path.Dir(dir)
		all = append(all, dir)
	}
	return all
}

// rewritten are those of some unchanged files that git may write differently than before, since other attributes hold for them. All are where there are too many to be
// looked into.
func (b *builder) rewritten(ctx context.Context, paths []string) ([]string, error) {
	var ways [2]conversions
	for n, commit := range []string{b.o.Base, b.o.Head} {
		exact, err := readAttributes(ctx, b.src, b.o, commit, paths)
		if err != nil {
			return nil, err
		}
		if ways[n], err = b.readConversions(ctx, commit, exact, paths); err != nil {
			return nil, err
		}
	}
	base, head := ways[0], ways[1]
	ask := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return base.as(head, p) || !base.converts(p) && !head.converts(p) })
	if len(ask) > mostReplaced {
		return ask, nil
	}
	texts, err := b.src.ReadFiles(ctx, b.o.Head, ask, sourceLimit)
	return slices.DeleteFunc(ask, func(p string) bool {
		text, read := texts[p]
		return base.keeps(p, text, read) && head.keeps(p, text, read)
	}), err
}
