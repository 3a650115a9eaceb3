package repocontext

import (
	"cmp"
	"context"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/symbols"
	"github.com/prloop/prloop/review"
)

const (
	// relatedLeast is what related code may take in any case, and relatedMost what it may take at most, in tokens; in between it has
	// what was saved by showing nothing twice.
	relatedLeast = 1200
	relatedMost  = 12_000
	// relatedFiles bounds how many changed files are asked for what they use, and relatedNames how many names are looked for.
	relatedFiles = 100
	relatedNames = 2000
)

// changed is a changed file whose structure is known.
type changed struct {
	path, family string
	head         symbols.File
	// lines are the changed lines of the head version, shown those that stand in diff and regions.
	lines, shown map[int]bool
	imports      map[string]bool // the words of its imports
	bases        map[string]bool // the names in front of the types around its changes
}

// seed is a name that changed code uses, and where.
type seed struct {
	weight int
	of     string
	from   *changed
}

// target is a name that the change defines or takes away.
type target struct {
	gone      bool // it is defined no more
	signature bool // more than its body has changed
	from      *changed
}

// giveRelated adds code outside the diff that helps to judge it: definitions of what it uses, uses of what it changes or removes, and
// tests of that. It goes by names, so it is a help to the reader and no proof of anything.
func (b *builder) giveRelated(ctx context.Context) error {
	budget := min(max(b.saved, relatedLeast), relatedMost, b.left)
	if budget < contextLeast {
		return nil
	}
	files, gone, err := b.changedCode(ctx)
	if err != nil || len(files)+len(gone) == 0 {
		return err
	}
	r := &relating{builder: b, seeds: map[string]map[string]seed{}, targets: map[string]map[string]target{}}
	for _, f := range files {
		r.uses(f)
		r.changes(f)
	}
	for _, g := range gone {
		r.removed(g)
	}
	if len(r.seeds)+len(r.targets) == 0 {
		return nil
	}
	found, err := r.look(ctx, files)
	if err != nil {
		return err
	}
	items := slices.Concat(r.definitions(found), r.callers(found))
	slices.SortStableFunc(items, func(x, y item) int {
		return cmp.Or(y.score-x.score, cmp.Compare(x.path, y.path), x.lines[0]-y.lines[0], cmp.Compare(x.why, y.why))
	})
	b.brief.Related, err = r.give(ctx, items, budget)
	return err
}

// versions are both sides of a changed file of which names were taken away.
type versions struct {
	*changed
	base symbols.File
	// cut are the lines of the base version that were removed.
	cut map[int]bool
}

// changedCode reads the changed files that were given and whose structure is known, and of those with removed lines the version before.
func (b *builder) changedCode(ctx context.Context) ([]*changed, []versions, error) {
	var names, olds []string
	var order []int
	for _, i := range b.order {
		f := &b.o.Diff.Files[i]
		if b.brief.Files[i].HunksGiven == 0 || !symbols.Known(Language(f.Path)) || len(order) == relatedFiles {
			continue
		}
		order = append(order, i)
		if f.Change != diff.Deleted {
			names = append(names, f.Path)
		}
		if f.Deletions > 0 && f.Change != diff.Added {
			olds = append(olds, cmp.Or(f.OldPath, f.Path))
		}
	}
	heads, err := b.src.ReadFiles(ctx, b.o.Head, names, symbols.FileLimit)
	if err != nil {
		return nil, nil, err
	}
	bases, err := b.src.ReadFiles(ctx, cmp.Or(b.o.From, b.o.Base), olds, symbols.FileLimit)
	if err != nil {
		return nil, nil, err
	}
	parse := parseTotal
	read := func(p string, text []byte) symbols.File {
		if parse -= len(text); parse < 0 {
			return symbols.File{}
		}
		f, _ := symbols.Read(Language(p), text)
		return f
	}
	var files []*changed
	var gone []versions
	for _, i := range order {
		f := &b.o.Diff.Files[i]
		c := &changed{path: f.Path, family: symbols.Family(Language(f.Path)), lines: map[int]bool{}, shown: map[int]bool{}, imports: map[string]bool{}, bases: map[string]bool{}}
		cut := map[int]bool{}
		for h := range f.Hunks {
			for l := range f.Hunks[h].Lines() {
				c.shown[l.New] = c.shown[l.New] || l.New > 0
				switch l.Op {
				case '+':
					c.lines[l.New] = true
				case '-':
					cut[l.Old] = true
				}
			}
		}
		for _, r := range b.brief.Files[i].Context {
			for n := r.Start; n <= r.End; n++ {
				c.shown[n] = true
			}
		}
		if text, ok := heads[f.Path]; ok {
			c.head = read(f.Path, text)
			for _, line := range c.head.Imports {
				for w := range strings.FieldsFuncSeq(line, outsideWord) {
					c.imports[w] = true
				}
			}
			files = append(files, c)
		}
		if text, ok := bases[cmp.Or(f.OldPath, f.Path)]; ok && len(cut) > 0 {
			gone = append(gone, versions{c, read(cmp.Or(f.OldPath, f.Path), text), cut})
		}
	}
	return files, gone, nil
}

// relating is the search for related code.
type relating struct {
	*builder
	// seeds are by name and family of languages, and so are targets.
	seeds   map[string]map[string]seed
	targets map[string]map[string]target
}

// Weights of a use.
const (
	onChangedLine = 3
	inHeader      = 2 // of the type around a change, such as the type it is based on
	aroundChange  = 1 // in the same function
)

func (r *relating) seed(name string, s seed) {
	if r.seeds[name] == nil {
		if len(r.seeds) >= relatedNames {
			return
		}
		r.seeds[name] = map[string]seed{}
	}
	if old, ok := r.seeds[name][s.from.family]; !ok || s.weight > old.weight {
		r.seeds[name][s.from.family] = s
	}
}

// uses notes what the changed lines of a file use, and what the functions and types around them do.
func (r *relating) uses(f *changed) {
	around, header := map[int]bool{}, map[int]bool{}
	for n := range f.lines {
		for _, d := range f.head.Definitions {
			if d.Kind == symbols.Value || d.Start > n || d.End < n {
				continue
			}
			if d.Kind == symbols.Function && d.End-d.Start <= widest {
				for l := d.Start; l <= d.End; l++ {
					around[l] = true
				}
			}
			if d.Kind != symbols.Function {
				for l := d.Start; l <= d.Head; l++ {
					header[l] = true
				}
			}
			if d.Owner != "" {
				r.seed(last(d.Owner), seed{weight: inHeader, from: f})
			}
		}
	}
	for _, u := range f.head.Uses {
		s := seed{of: u.Of, from: f}
		switch {
		case f.lines[u.Line]:
			s.weight = onChangedLine
		case header[u.Line]:
			s.weight, f.bases[u.Name] = inHeader, true
		case around[u.Line]:
			s.weight = aroundChange
		default:
			continue
		}
		r.seed(u.Name, s)
	}
}

// last is the name without its owners and type parameters.
func last(owner string) string {
	owner = owner[strings.LastIndexByte(owner, '.')+1:]
	owner, _, _ = strings.Cut(owner, "<")
	return owner
}

// changes notes what a file's changed lines define.
func (r *relating) changes(f *changed) {
	for _, d := range f.head.Definitions {
		signature, touched := false, false
		for n := d.Start; n <= d.End; n++ {
			touched = touched || f.lines[n]
			signature = signature || f.lines[n] && n <= d.Head
		}
		if !touched || d.Kind != symbols.Function && !signature || d.Kind == symbols.Implementation {
			continue
		}
		r.target(d.Name, target{signature: signature, from: f})
	}
}

// removed notes what a file's removed lines defined and the file defines no more.
func (r *relating) removed(v versions) {
	there := map[string]bool{}
	for _, d := range v.head.Definitions {
		there[d.Name] = true
	}
	for _, d := range v.base.Definitions {
		for n := d.Start; n <= d.Head; n++ {
			if v.cut[n] && !there[d.Name] && d.Kind != symbols.Implementation {
				r.target(d.Name, target{gone: true, signature: true, from: v.changed})
				break
			}
		}
	}
}

func (r *relating) target(name string, t target) {
	if len(name) < 3 || r.targets[name] == nil && len(r.targets) >= relatedNames {
		return
	}
	if r.targets[name] == nil {
		r.targets[name] = map[string]target{}
	}
	if old, ok := r.targets[name][t.from.family]; !ok || t.gone && !old.gone || t.signature && !old.signature {
		r.targets[name][t.from.family] = t
	}
}

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
		language := Language(p)
		if language == "" || r.o.excluded(p) || named(p) != "" || listing(p) {
			continue
		}
		if why, _ := r.attrs.reason(p); why != "" {
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
	found, err := symbols.Look(ctx, candidates, want, cache, func(ctx context.Context, paths []string) (map[string][]byte, error) {
		texts, err := r.src.ReadFiles(ctx, r.o.Head, paths, symbols.FileLimit)
		for p, text := range texts {
			if saysGenerated(p, text) {
				delete(texts, p)
			}
		}
		return texts, err
	})
	if err == nil {
		_ = cache.Save() // what is not kept is read again
	}
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

// item is a piece of related code.
type item struct {
	score int
	path  string
	why   string
	// lines are wanted of the span, the first of them above all.
	lines []int
	span  span
	// matter says that lines of the span which matter are wanted too.
	matter bool
}

// definitions are the definitions of what changed code uses.
func (r *relating) definitions(found symbols.Found) []item {
	type candidate struct {
		path string
		symbols.Definition
	}
	by := map[string][]candidate{}
	for p, f := range found {
		family := symbols.Family(Language(p))
		for _, d := range f.Definitions {
			if _, wanted := r.seeds[d.Name][family]; wanted && d.Kind != symbols.Implementation {
				by[d.Name+" "+family] = append(by[d.Name+" "+family], candidate{p, d})
			}
		}
	}
	var items []item
	for _, all := range by {
		s := r.seeds[all[0].Name][symbols.Family(Language(all[0].path))]
		var some []item
		for _, c := range all {
			near := s.from.nearness(c.path)
			owned := s.of != "" && (c.Owner != "" && strings.EqualFold(last(c.Owner), s.of) || c.Owner == "" && module(c.path, s.of))
			inherited := c.Owner != "" && s.from.bases[last(c.Owner)]
			self := s.of == "self" || s.of == "this" || s.of == "cls" || s.of == "static" || s.of == "super"
			switch {
			case c.Kind == symbols.Function && c.Name == last(c.Owner) && s.weight == inHeader:
				continue // the type is meant, not what makes one
			case s.from.family == "go" && hidden(c.Name) && path.Dir(c.path) != path.Dir(s.from.path), c.Local, testFile(c.path) && !testFile(s.from.path):
				continue
			case c.Owner != "" && s.of == "" && c.Kind != symbols.Type && near < sameFile && !inherited:
				continue // a member has its owner in front
			case c.Owner == "" && s.of != "" && !owned && near < sameFolder:
				continue // it is a member that is used
			case c.Owner != "" && !owned && !inherited && near < sameFolder && (len(all) > 1 || near == 0):
				continue // one of several, or far away
			case len(all) > 4 && !owned && !inherited, s.weight == aroundChange && !owned && near < sameFolder:
				continue // the name says too little
			}
			score := 10*s.weight + near + 12/len(all)
			if owned || inherited || self && c.path == s.from.path {
				score += 10
			}
			it := item{score: score, path: c.path, why: "defines " + c.Full(), span: span{start: c.Start, end: c.End}}
			it.lines = append(it.lines, c.At)
			for n := max(c.Start, c.At-3); n <= min(c.Head, c.At+5); n++ {
				it.lines = append(it.lines, n)
			}
			switch size := c.End - c.Start + 1; {
			case c.Kind == symbols.Function && s.weight > aroundChange:
				it.matter = true
			case size <= 6 && s.weight != inHeader:
				for n := c.Head + 1; n <= c.End; n++ {
					it.lines = append(it.lines, n)
				}
			}
			for _, d := range found[c.path].Definitions { // whose member it is
				if d.Kind == symbols.Type && d.Name == last(c.Owner) && d.Start <= c.Start && d.End >= c.End {
					it.lines = append(it.lines, d.At)
				}
			}
			some = append(some, it)
		}
		slices.SortFunc(some, func(x, y item) int {
			return cmp.Or(y.score-x.score, cmp.Compare(x.path, y.path), x.lines[0]-y.lines[0])
		})
		items = append(items, some[:min(len(some), 2)]...)
	}
	return items
}

const (
	// mostCallers is how many places are given that use one name, mostGone how many that use one which is defined no more.
	mostCallers = 3
	mostGone    = 6
	mostTests   = 1
)

// callers are the uses of what the change defines or removes.
func (r *relating) callers(found symbols.Found) []item {
	owners := map[string]int{} // how many definitions a name has
	for p, f := range found {
		for _, d := range f.Definitions {
			if d.Kind != symbols.Implementation {
				owners[d.Name+" "+symbols.Family(Language(p))]++
			}
		}
	}
	by := map[string][]item{}
	tests := map[string][]item{}
	for p, f := range found {
		family := symbols.Family(Language(p))
		for _, u := range f.Uses {
			t, ok := r.targets[u.Name][family]
			if !ok && !symbols.Known(Language(p)) {
				for _, other := range r.targets[u.Name] {
					if ok = other.gone; ok {
						t = other
					}
				}
			}
			if !ok {
				continue
			}
			id := u.Name + " " + family
			near := t.from.nearness(p)
			n := owners[id]
			if n > 4 && near < sameFolder || family == "go" && hidden(u.Name) && path.Dir(p) != path.Dir(t.from.path) {
				continue
			}
			if t.gone && n > 1 && near < sameFile {
				continue // somebody else defines it too
			}
			it := item{score: 16 + near + 12/max(n, 1), path: p, why: "uses " + u.Name, span: span{start: max(1, u.Line-1), end: u.Line + 1}}
			if t.signature {
				it.score += 6
			}
			if t.gone {
				it.score, it.why = it.score+16, "still uses "+u.Name+", which is no longer defined"
				if n > 0 {
					it.why = "uses " + u.Name + ", which is defined elsewhere now"
					it.score -= 10
				}
			}
			it.lines = []int{u.Line}
			if d, ok := f.Around(u.Line); !ok && !t.gone && symbols.Known(Language(p)) && within(f, u.Name) {
				continue // it is imported there
			} else if ok {
				it.lines = append(it.lines, d.At)
				it.why += ", in " + d.Full()
			}
			if testFile(p) && !t.gone {
				it.score -= 8
				it.why = strings.Replace(it.why, "uses", "tests", 1)
				tests[id] = append(tests[id], it)
				continue
			}
			it.lines = append(it.lines, u.Line-1, u.Line+1)
			by[id] = append(by[id], it)
		}
	}
	var items []item
	take := func(by map[string][]item, most func(item) int) {
		for _, some := range by {
			slices.SortFunc(some, func(x, y item) int {
				return cmp.Or(y.score-x.score, cmp.Compare(x.path, y.path), x.lines[0]-y.lines[0])
			})
			items = append(items, some[:min(len(some), most(some[0]))]...)
		}
	}
	take(by, func(it item) int {
		if strings.HasPrefix(it.why, "still") {
			return mostGone
		}
		return mostCallers
	})
	take(tests, func(item) int { return mostTests })
	return items
}

// within reports whether a definition of a file uses a name.
func within(f symbols.File, name string) bool {
	return slices.ContainsFunc(f.Uses, func(u symbols.Use) bool {
		_, ok := f.Around(u.Line)
		return ok && u.Name == name
	})
}

// relatedRegion is what naming a region costs, in tokens.
const relatedRegion = 5

// give reads what the items need and takes them in order while the budget lasts.
func (r *relating) give(ctx context.Context, items []item, budget int) ([]review.RelatedFile, error) {
	pages := map[string]*page{}
	var order []string
	for len(items) > 0 && budget > 0 {
		part := items[:min(len(items), 64)]
		items = items[len(part):]
		var names []string
		for _, it := range part {
			if pages[it.path] == nil && !slices.Contains(names, it.path) {
				names = append(names, it.path)
			}
		}
		texts, err := r.src.ReadFiles(ctx, r.o.Head, names, symbols.FileLimit)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			pages[name] = newPage(texts[name], r.given(name))
		}
		for _, it := range part {
			p := pages[it.path]
			fresh, cost := p.add(it)
			if len(fresh) == 0 {
				continue
			}
			if cost += relatedRegion; !p.named {
				cost += fileOverhead
			}
			if cost > budget {
				p.drop(fresh)
				continue
			}
			if budget -= cost; !p.named {
				p.named = true
				order = append(order, it.path)
			}
			b := r.builder
			b.left -= cost
		}
	}
	var all []review.RelatedFile
	for _, name := range order {
		all = append(all, pages[name].file(name))
	}
	return all, nil
}

// given are the lines of a changed file that the brief shows.
func (r *relating) given(name string) map[int]bool {
	there := map[int]bool{}
	for i := range r.o.Diff.Files {
		if f := &r.o.Diff.Files[i]; f.Path == name {
			for h := range f.Hunks[:r.brief.Files[i].HunksGiven] {
				for l := range f.Hunks[h].Lines() {
					there[l.New] = true
				}
			}
			for _, c := range r.brief.Files[i].Context {
				for n := c.Start; n <= c.End; n++ {
					there[n] = true
				}
			}
		}
	}
	return there
}
