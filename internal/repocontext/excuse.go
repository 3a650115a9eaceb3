package repocontext

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// excusable takes back what a name or an attribute alone does not excuse (decision 30): new files where nothing was vendored or
// minified before, and files that begin with the name of their interpreter where the diff does not show it.
func (b *builder) excusable(ctx context.Context) error {
	b.back, b.vendored = make([]bool, len(b.brief.Files)), map[string]bool{}
	back := func(i int) {
		b.back[i], b.brief.Files[i].Omitted = true, unshown(&b.o.Diff.Files[i])
	}
	var ask []int
	for i := range b.brief.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		if !slices.Contains([]string{OmittedGenerated, OmittedVendored, OmittedLockFile}, bf.Omitted) {
			continue
		}
		grown, err := b.grown(ctx, i)
		switch {
		case err != nil:
			return err
		case grown:
			back(i)
		case f.Change != diff.Deleted && !f.Has(1):
			ask = append(ask, i)
		}
	}
	for batch := range slices.Chunk(ask, diffBatch) {
		names := b.paths(batch)
		texts, err := b.beginnings(ctx, b.o.Head, names, len("#!["))
		if err != nil {
			return err
		}
		for n, i := range batch {
			if hasInterpreter(texts[names[n]]) {
				back(i)
			}
		}
	}
	return nil
}

// grown reports whether the name that excuses a file excused nothing at the base: a new minified file, or a file in a folder of
// vendored code that is new itself. Attributes, which the base has set, excuse new files too, but none that a test runner runs for its name alone.
func (b *builder) grown(ctx context.Context, i int) (bool, error) {
	f := &b.o.Diff.Files[i]
	why := b.brief.Files[i].Omitted
	switch {
	case f.Change == diff.Deleted:
		return false, nil
	case path.Base(f.Path) == "package.json" && runsScripts(f):
		return true, nil
	case f.Change == diff.Modified:
		return false, nil
	case why != OmittedLockFile && pushpolicy.RunByName(f.Path):
		return true, nil
	case b.attributed[i]:
		return false, nil
	}
	switch why {
	case OmittedGenerated:
		return f.Change != diff.Renamed && hasEnding(f.Path, minified), nil
	case OmittedVendored:
		root := vendorRoot(f.Path)
		known, ok := b.vendored[root]
		if !ok {
			paths, err := b.src.Files(ctx, b.o.Base, root)
			if err != nil {
				return false, err
			}
			known = slices.ContainsFunc(paths, func(p string) bool { return p != root }) // a file of that name is no folder
			b.vendored[root] = known
		}
		return !known, nil
	}
	return false, nil
}

// installScript matches the scripts of a manifest that npm runs when it installs or packs, and an escape that may spell one.
var installScript = lazyregexp.New(`"(pre|post)?(install|pack)"|"(pre|post)?prepare"|"prepublish|\\u`)

// runsScripts reports whether a change adds what a package manager runs on its own to a manifest.
func runsScripts(f *diff.File) bool {
	for line := range f.Added() {
		if installScript.MatchString(line.Text) {
			return true
		}
	}
	return false
}

// vendorRoot is the outermost folder of a path that holds other people's code.
func vendorRoot(p string) string {
	parts := strings.Split(path.Dir(p), "/")
	i := slices.IndexFunc(parts, func(part string) bool { return slices.Contains(vendorFolders, part) })
	return path.Join(parts[:i+1]...)
}
