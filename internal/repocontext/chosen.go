package repocontext

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/symbols"
)

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
		family := symbols.Family(lang.Of(p))
		for _, d := range f.Definitions {
			if _, wanted := r.seeds[d.Name][family]; wanted && d.Kind != symbols.Implementation {
				by[d.Name+" "+family] = append(by[d.Name+" "+family], candidate{p, d})
			}
		}
	}
	var items []item
	for _, all := range by {
		s := r.seeds[all[0].Name][symbols.Family(lang.Of(all[0].path))]
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
				owners[d.Name+" "+symbols.Family(lang.Of(p))]++
			}
		}
	}
	by := map[string][]item{}
	tests := map[string][]item{}
	for p, f := range found {
		family, inside := symbols.Family(lang.Of(p)), namesWithin(f)
		for _, u := range f.Uses {
			t, ok := r.targets[u.Name][family]
			if !ok && !symbols.Known(lang.Of(p)) {
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
			if d, ok := f.Around(u.Line); !ok && !t.gone && symbols.Known(lang.Of(p)) && inside[u.Name] {
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

// namesWithin are the names that definitions of a file use.
func namesWithin(f symbols.File) map[string]bool {
	names := map[string]bool{}
	for _, u := range f.Uses {
		if _, ok := f.Around(u.Line); ok {
			names[u.Name] = true
		}
	}
	return names
}
