package repocontext

import (
	"cmp"
	"context"
	"slices"

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
	// relatedItems bounds how many pieces of code are tried.
	relatedItems = 400
)

// giveRelated adds code outside the diff that helps to judge it: definitions of what it uses, uses of what it changes or removes, and
// tests of that. It goes by names, so it is a help to the reader and no proof of anything.
func (b *builder) giveRelated(ctx context.Context) error {
	if b.o.DiffOnly || b.o.HunksOnly {
		return nil
	}
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

// lookedShort says where code outside the diff was not looked for as it is otherwise.
func (b *builder) lookedShort() (out []string) {
	if b.unparsed > 0 {
		out = append(out, "code outside the diff: "+files(b.unparsed)+" not parsed, for the limits on time and size; names in them are found line by line")
	}
	if b.unread > 0 {
		out = append(out, "code outside the diff: "+files(b.unread)+" not looked through, beyond the bound")
	}
	return out
}

// relatedRegion is what naming a region costs, in tokens.
const relatedRegion = 5

// give reads what the items need and takes them in order while the budget lasts.
func (r *relating) give(ctx context.Context, items []item, budget int) ([]review.RelatedFile, error) {
	pages := map[string]*page{}
	var order []string
	items = items[:min(len(items), relatedItems)]
	for len(items) > 0 && budget > fileOverhead {
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
