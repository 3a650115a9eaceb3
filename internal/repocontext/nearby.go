package repocontext

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/symbols"
)

// look looks for the names in the tree: first in changed files, then in those near them.
func (r *relating) look(ctx context.Context, files []*changed) (symbols.Found, error) {
	paths, err := r.src.Files(ctx, r.o.Head, "")
	if err != nil {
		return nil, err
	}
	want := symbols.Wanted{Defined: map[string]bool{}, Used: map[string]bool{}, Gone: map[string]bool{}}
	for name := range r.seeds {
		want.Defined[name] = true
	}
	for name, by := range r.targets {
		for _, t := range by {
			want.Used[name] = true
			// A short word means many things outside of code.
			want.Gone[name] = want.Gone[name] || t.gone && len(name) > 5
		}
	}
	type near struct {
		symbols.Candidate
		far int
	}
	far := r.distances(files)
	var all []near
	for _, p := range paths {
		language := lang.Of(p)
		if language == "" || r.o.excluded(p) || named(p) != "" || listing(p) {
			continue
		}
		if !symbols.Known(language) && (len(want.Gone) == 0 || slices.Contains(dataLanguages, language)) {
			continue
		}
		all = append(all, near{symbols.Candidate{Path: p, Language: language}, far(p)})
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.Path, b.Path)) })
	candidates := make([]symbols.Candidate, len(all))
	for i, n := range all {
		candidates[i] = n.Candidate
	}
	cache := r.o.cache()
	found, missed, err := symbols.Look(ctx, candidates, want, cache, func(ctx context.Context, paths []string) (map[string][]byte, error) {
		texts, err := r.src.ReadFiles(ctx, r.o.Head, paths, symbols.FileLimit)
		for p, text := range texts {
			if saysGenerated(p, text) {
				delete(texts, p)
			}
		}
		return texts, err
	})
	if err != nil {
		return nil, err
	}
	_ = cache.Save() // what is not kept is read again
	r.unparsed, r.unread = r.unparsed+missed.Unparsed, missed.Unread
	attrs, err := readAttributes(ctx, r.src, r.o, r.o.Base, slices.Collect(maps.Keys(found)))
	maps.DeleteFunc(found, func(p string, _ symbols.File) bool {
		why, _ := attrs.reason(p)
		return why != ""
	})
	return found, err
}

// distances says how far a file is from the changed ones: those come first, then what they import and what stands beside them.
func (r *relating) distances(files []*changed) func(p string) int {
	const nearest = -1
	all := &changed{imports: map[string]bool{}} // as if one file imported what any of them does
	itself, dirs, known := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, f := range files {
		itself[f.path], dirs[path.Dir(f.path)] = true, true
		maps.Copy(all.imports, f.imports)
		if f.family == "go" {
			all.family = f.family
		}
	}
	return func(p string) int {
		switch {
		case itself[p]:
			return nearest
		case all.imported(p):
			return 0
		}
		dir := path.Dir(p)
		if n, ok := known[dir]; ok {
			return n
		}
		n := math.MaxInt
		for d := range dirs {
			n = min(n, distance(d, dir))
		}
		known[dir] = n
		return n
	}
}

// distance is how many steps lead from one folder to another.
func distance(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	return len(x) + len(y) - 2*same
}

// imported reports whether a file's imports name another file, by its name or, where names of folders are imported, by its folder.
func (f *changed) imported(p string) bool {
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	dir := path.Base(path.Dir(p))
	if len(base) > 2 && f.imports[base] {
		return true
	}
	folder := f.family == "go" || base == "index" || base == "mod" || base == "lib" || base == "__init__"
	return folder && len(dir) > 2 && f.imports[dir]
}

// How near a place is to a changed file; below are places in other folders, up to 5.
const (
	sameFolder = 8
	imports    = 9
	sameFile   = 12
)

// nearness says how near a file is to a changed one.
func (f *changed) nearness(p string) int {
	switch {
	case p == f.path:
		return sameFile
	case f.imported(p):
		return imports
	case path.Dir(p) == path.Dir(f.path):
		return sameFolder
	}
	return max(0, 6-distance(path.Dir(p), path.Dir(f.path)))
}

// module reports whether a name is that of a file, without its ending, or of its folder.
func module(p, name string) bool {
	base := path.Base(p)
	return name == strings.TrimSuffix(base, path.Ext(base)) || name == path.Base(path.Dir(p))
}

// hidden reports whether Go keeps a name to its package.
func hidden(name string) bool { return name[0] >= 'a' && name[0] <= 'z' || name[0] == '_' }

// testFile reports whether a file holds tests, by its name.
func testFile(p string) bool {
	low := strings.ToLower(p)
	base := path.Base(low)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.HasPrefix(base, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.HasSuffix(stem, "_spec") || strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests") ||
		below(path.Dir(low), []string{"test", "tests", "spec", "specs", "__tests__", "testdata"})
}
