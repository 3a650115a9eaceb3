package repocontext

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/symbols"
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
		if b.brief.Files[i].HunksGiven == 0 || !symbols.Known(lang.Of(f.Path)) || len(order) == relatedFiles {
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
			b.unparsed++
			return symbols.File{}
		}
		f, _, slow := symbols.ReadInTime(lang.Of(p), text)
		if slow {
			b.unparsed++
		}
		return f
	}
	var files []*changed
	var gone []versions
	for _, i := range order {
		f := &b.o.Diff.Files[i]
		c := &changed{path: f.Path, family: symbols.Family(lang.Of(f.Path)), lines: map[int]bool{}, shown: map[int]bool{}, imports: map[string]bool{}, bases: map[string]bool{}}
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
	touched := within(f.lines)
	for _, d := range f.head.Definitions {
		if d.Kind == symbols.Value || !touched(d.Start, d.End) {
			continue
		}
		if d.Kind == symbols.Function && d.End-d.Start <= widest {
			for l := d.Start; l <= d.End; l++ {
				around[l] = true
			}
		}
		if d.Kind != symbols.Function {
			for l := d.Start; l <= min(d.Head, d.Start+widestHead); l++ {
				header[l] = true
			}
		}
		if d.Owner != "" {
			r.seed(last(d.Owner), seed{weight: inHeader, from: f})
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
	touched := within(f.lines)
	for _, d := range f.head.Definitions {
		signature := touched(d.Start, d.Head)
		if !touched(d.Start, d.End) || d.Kind != symbols.Function && !signature || d.Kind == symbols.Implementation {
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
	cut := within(v.cut)
	for _, d := range v.base.Definitions {
		if !there[d.Name] && d.Kind != symbols.Implementation && cut(d.Start, d.Head) {
			r.target(d.Name, target{gone: true, signature: true, from: v.changed})
		}
	}
}

// widestHead is how many lines of a type's signature are looked at.
const widestHead = 20

// within reports, for two lines, whether one of a set lies between them or is one of them.
func within(lines map[int]bool) func(from, to int) bool {
	sorted := slices.Sorted(maps.Keys(lines))
	return func(from, to int) bool {
		at, _ := slices.BinarySearch(sorted, from)
		return at < len(sorted) && sorted[at] <= to
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

// outsideWord reports whether a character ends a word. One that is no UTF-8, or above ASCII, is part of it, as in languages that
// let names hold any byte.
func outsideWord(r rune) bool {
	return r < utf8.RuneSelf && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
