package repocontext

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// installed are files that can have an installation run something, and of which no text is asked: npm runs the first where a manifest names no script, and
// pnpm takes the others for manifests.
var installed = []string{"binding.gyp", "package.json5", "package.yaml"}

// excusable takes back what a name or an attribute alone does not excuse (decision 30): new files where nothing was vendored or
// minified before, files that begin with the name of their interpreter where the diff does not show it, manifests that have an installation run something, and lock files that
// are none by their place or text.
func (b *builder) excusable(ctx context.Context) error {
	b.back, b.standing, b.ways, b.held = make([]bool, len(b.brief.Files)), map[string]map[string][]string{}, map[string]map[pushpolicy.Way]bool{}, map[string]bool{}
	back := func(i int) {
		b.back[i], b.brief.Files[i].Omitted = true, unshown(&b.o.Diff.Files[i])
	}
	var ask, manifests, locks []int
	for i := range b.brief.Files {
		f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
		if !slices.Contains([]string{OmittedGenerated, OmittedVendored, OmittedLockFile}, bf.Omitted) {
			continue
		}
		if f.Change != diff.Deleted && (bf.Omitted == OmittedLockFile || lockKind(f.Path) == sqlxQuery) {
			locks = append(locks, i)
		}
		grown, err := b.grown(ctx, i)
		switch {
		case err != nil:
			return err
		case grown, bf.Moved && bf.Omitted != OmittedLockFile: // which moves as what it is
			back(i)
		case f.Change == diff.Deleted:
		case slices.Contains(installed, strings.ToLower(path.Base(f.Path))):
			back(i)
		case strings.EqualFold(path.Base(f.Path), "package.json"):
			manifests = append(manifests, i)
		case !f.Has(1):
			ask = append(ask, i)
		}
	}
	if err := b.installing(ctx, manifests, back); err != nil {
		return err
	}
	if err := b.astray(ctx, locks, back); err != nil {
		return err
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

// grown reports whether the name that excuses a file excused nothing at the base: a new minified file, or one that comes changed into another folder or ending, or a file in a folder of
// vendored code that is new itself. Attributes, which the base has set, excuse new files elsewhere. Neither excuses one that a test runner runs for its
// name alone, but beside others that it runs: whoever may add it may as well change those.
func (b *builder) grown(ctx context.Context, i int) (bool, error) {
	f := &b.o.Diff.Files[i]
	why := b.brief.Files[i].Omitted
	if f.Change == diff.Modified || f.Change == diff.Deleted {
		return false, nil
	}
	if why != OmittedLockFile {
		if ran, err := b.ranBefore(ctx, f.Path); err != nil || !ran {
			return true, err
		}
	}
	if b.attributed[i] && vendorRoot(f.Path) == "" {
		return false, nil
	}
	switch why {
	case OmittedGenerated:
		edited := len(f.Hunks) > 0 || unshown(f) != ""
		return hasEnding(f.Path, minified) && (f.Change != diff.Renamed || edited && (path.Dir(f.OldPath) != path.Dir(f.Path) || path.Ext(f.OldPath) != path.Ext(f.Path))), nil
	case OmittedVendored:
		return b.unlike(ctx, f.Path)
	}
	return false, nil
}

// findMoved finds changed files that the base has no more under their old names, though the change began with them. Where the base has moved one, git merges
// the change into the file at its new place, of which no name or attribute of the old one tells anything (threats.md T645, T845).
func (b *builder) findMoved(ctx context.Context) error {
	if cmp.Or(b.o.From, b.o.Base) == b.o.Base {
		return nil
	}
	var there map[string]bool
	n := 0
	for i := range b.o.Diff.Files {
		f := &b.o.Diff.Files[i]
		if f.Change != diff.Modified && f.Change != diff.Renamed {
			continue
		}
		if there == nil {
			names, err := b.src.Files(ctx, b.o.Base, "")
			if err != nil {
				return err
			}
			there = make(map[string]bool, len(names))
			for _, name := range names {
				there[name] = true
			}
		}
		if b.brief.Files[i].Moved = !there[cmp.Or(f.OldPath, f.Path)]; b.brief.Files[i].Moved {
			n++
		}
	}
	if n > 0 {
		b.short = append(b.short, "nothing is told from the names of "+files(n)+": the base has no such file any more; a branch that holds the newest base is reviewed as it will be merged")
	}
	return nil
}

var (
	// aboutCode are languages of files that may tell of code, set it or fetch it where there is none.
	aboutCode = strings.Split("json,json with comments,json5,yaml,toml,ini,java properties,xml,svg,csv,diff,markdown,mdx,restructuredtext,asciidoc,tex,text,html,pip requirements,nix,hcl", ",")
	// alone are those of them in which charts, modules and dashboards are written, which are taken in without any code.
	alone = []string{"yaml", "hcl", "json"}
)

// unlike reports whether the folder that excuses a new file by its name held nothing like it at the base: no code of its kind or, for a file that may tell of
// code, of any, and no two files of its own language below it, if that is one of alone. Servers run programs of one kind where pages of another lie (threats.md T906).
func (b *builder) unlike(ctx context.Context, name string) (bool, error) {
	root, its := vendorRoot(name), kind(name)
	if !slices.Contains(aboutCode, its) {
		held, err := b.holds(ctx, root, its, 1)
		return !held, err
	}
	held, err := b.holds(ctx, root, "", 1)
	if !held && err == nil && slices.Contains(alone, its) {
		held, err = b.holds(ctx, root, its, 2)
	}
	return !held, err
}

// kind is the language of a file, or else its ending.
func kind(name string) string { return cmp.Or(lang.Of(name), strings.ToLower(path.Ext(name))) }

// holds reports whether a folder has a file of a kind at the base, or several below the folders in it, or of code of any kind for none, that neither
// their name nor the attributes there keep from being other people's. What keeps a folder in git or sets a tool begins with a dot, and no name excuses what builds.
func (b *builder) holds(ctx context.Context, root, its string, some int) (bool, error) {
	key := root + "\x00" + its
	if held, ok := b.held[key]; ok {
		return held, nil
	}
	known, err := b.baseFiles(ctx, root)
	if err != nil {
		return false, err
	}
	var like []string
	for dir, paths := range known {
		for _, p := range paths {
			language := lang.Of(p)
			fits := kind(p) == its && (some == 1 || dir != root)
			if its == "" {
				fits = language != "" && !slices.Contains(aboutCode, language)
			}
			if fits && !strings.HasPrefix(path.Base(p), ".") && named(p) == OmittedVendored {
				like = append(like, p)
			}
		}
	}
	for batch := range slices.Chunk(like, 8*diffBatch) {
		attrs, err := readAttributes(ctx, b.src, b.o, b.o.Base, batch)
		if err != nil {
			return false, err
		}
		for _, p := range batch {
			if attrs.named(p) == OmittedVendored {
				some--
			}
		}
		if some <= 0 {
			break
		}
	}
	b.held[key] = some <= 0
	return some <= 0, nil
}

// ranBefore reports whether each way in which a test runner comes to a file for its name alone, if there is one, led to a file at the base, in the same
// folder or one above, that a name or an attribute excused.
func (b *builder) ranBefore(ctx context.Context, name string) (bool, error) {
	ways, root := pushpolicy.Ways(name), vendorRoot(name)
	for dir := path.Dir(name); len(ways) > 0; dir = path.Dir(dir) {
		known, ok := b.ways[dir]
		if !ok {
			all, err := b.baseFiles(ctx, root)
			if err != nil {
				return false, err
			}
			ran := slices.DeleteFunc(slices.Clone(all[dir]), func(p string) bool { return len(pushpolicy.Ways(p)) == 0 })
			attrs, err := readAttributes(ctx, b.src, b.o, b.o.Base, ran)
			if err != nil {
				return false, err
			}
			known = map[pushpolicy.Way]bool{}
			for _, p := range ran {
				if byNameOrAttribute(attrs, p) {
					for _, way := range pushpolicy.Ways(p) {
						known[way] = true
					}
				}
			}
			b.ways[dir] = known
		}
		ways = slices.DeleteFunc(ways, func(way pushpolicy.Way) bool { return known[way] })
		if dir == root || dir == "." {
			break
		}
	}
	return len(ways) == 0, nil
}

// baseFiles are the files at the base below a folder, by the folders they are in; all of them for an empty one. A link, a submodule or an
// empty file is no code that somebody took in.
func (b *builder) baseFiles(ctx context.Context, root string) (map[string][]string, error) {
	if all, ok := b.standing[root]; ok {
		return all, nil
	}
	paths, err := b.src.Regular(ctx, b.o.Base, root)
	all := map[string][]string{}
	for _, p := range paths {
		if p != root { // a file of that name is no folder
			all[path.Dir(p)] = append(all[path.Dir(p)], p)
		}
	}
	b.standing[root] = all
	return all, err
}

// installing takes back the manifests of npm with a script that installing runs, and that did not stand there before with the same scripts. Their whole
// text is asked, since a change shows as little of it as its author likes; one that cannot be read may say anything.
func (b *builder) installing(ctx context.Context, manifests []int, back func(int)) error {
	for batch := range slices.Chunk(manifests, diffBatch) {
		names := b.paths(batch)
		now, err := b.src.ReadFiles(ctx, b.o.Head, names, sourceLimit)
		if err != nil {
			return err
		}
		before, err := b.src.ReadFiles(ctx, cmp.Or(b.o.From, b.o.Base), names, sourceLimit)
		if err != nil {
			return err
		}
		for n, i := range batch {
			scripts, ok := installScripts(now[names[n]])
			if old, known := installScripts(before[names[n]]); !ok || len(scripts) > 0 && !(known && maps.Equal(scripts, old)) {
				back(i)
			}
		}
	}
	return nil
}

// installScript matches the scripts that npm runs when it installs, packs or publishes.
var installScript = lazyregexp.New(`^((pre|post)?(install|pack|prepare)|prepublish(Only)?)$`)

// installScripts are those of a manifest; false for a text that is none.
func installScripts(text []byte) (map[string]string, bool) {
	var manifest, scripts map[string]json.RawMessage // no struct: npm tells capitals from small letters
	if json.Unmarshal(text, &manifest) != nil || len(manifest["scripts"]) > 0 && json.Unmarshal(manifest["scripts"], &scripts) != nil {
		return nil, false
	}
	run := map[string]string{}
	for name, command := range scripts {
		if installScript.MatchString(name) {
			run[name] = string(command)
		}
	}
	return run, true
}

// vendorRoot is the outermost folder of a path that holds other people's code; empty where none does.
func vendorRoot(p string) string {
	parts := strings.Split(path.Dir(p), "/")
	i := slices.IndexFunc(parts, func(part string) bool { return slices.Contains(vendorFolders, part) })
	return path.Join(parts[:i+1]...)
}
