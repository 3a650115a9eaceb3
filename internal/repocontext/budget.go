package repocontext

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
)

// cutHunks gives as many leading hunks of a file's diff as fit into budget tokens, and how many these are.
func cutHunks(f *diff.File, budget int) (text string, hunks, cost int) {
	cost = Estimate(f.Header()) + fileOverhead
	end := len(f.Header())
	for i := range f.Hunks {
		more := Estimate(spelling.Text(f.Hunks[i].Raw))
		if cost+more > budget {
			break
		}
		cost += more
		end += len(f.Hunks[i].Raw)
		hunks++
	}
	if hunks == 0 {
		return "", 0, 0
	}
	return spelling.Text(f.Raw[:end]), hunks, cost
}

// fits reports whether a file's first hunk, or all of a file without hunks, goes into budget tokens.
func fits(f *diff.File, budget int) bool {
	cost := Estimate(f.Header()) + fileOverhead
	if len(f.Hunks) > 0 {
		cost += Estimate(spelling.Text(f.Hunks[0].Raw))
	}
	return cost <= budget
}

// arrange puts what is given in order: most changed lines first, then by name. Vendored files, and new ones that call themselves
// generated, come last but are given: their word alone must not hide them.
func (b *builder) arrange() {
	files := b.o.Diff.Files
	last := make([]bool, len(files))
	b.ask = make([]bool, len(files))
	for i := range files {
		f := &files[i]
		if b.brief.Files[i].Omitted != "" {
			continue
		}
		last[i] = b.back[i] || below(path.Dir(f.Path), vendorFolders)
		switch {
		case b.set[i]: // the repository says whether it is generated
		case f.Change == diff.Added:
			last[i] = last[i] || saysGenerated(f.Path, addedHead(f))
		default:
			b.ask[i] = f.OldPath == "" && !runnable(f) && !neverSkipped(f.Path)
		}
		b.order = append(b.order, i)
	}
	slices.SortStableFunc(b.order, func(i, j int) int {
		if last[i] != last[j] {
			if last[i] {
				return 1
			}
			return -1
		}
		x, y := &files[i], &files[j]
		return cmp.Or(cmp.Compare(y.Additions+y.Deletions, x.Additions+x.Deletions), cmp.Compare(x.Path, y.Path))
	})
}

// giveDiffs hands out diffs while the budget lasts, cut between hunks where it ends. Files too large for what is left are
// not read at all.
func (b *builder) giveDiffs(ctx context.Context) error {
	over, cut := 0, 0
	var batch []int
	flush := func() error {
		if err := b.askMarks(ctx, batch); err != nil {
			return err
		}
		if err := b.readDeclared(ctx, batch); err != nil {
			return err
		}
		if err := b.readBuilt(ctx, batch); err != nil {
			return err
		}
		for _, i := range batch {
			switch b.giveDiff(i) {
			case OmittedOverBudget:
				over++
			case StatusTruncated:
				cut++
			}
		}
		batch = batch[:0]
		return nil
	}
	for _, i := range b.order {
		if !fits(&b.o.Diff.Files[i], b.left) {
			b.brief.Files[i].Omitted = OmittedOverBudget
			over++
			continue
		}
		if batch = append(batch, i); len(batch) == diffBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	b.order = slices.DeleteFunc(b.order, func(i int) bool { return b.brief.Files[i].Omitted != "" })
	if over > 0 {
		b.cut = append(b.cut, fmt.Sprintf("%d files were left out: over the budget of %d tokens", over, b.o.MaxTokens))
	}
	if cut > 0 {
		b.cut = append(b.cut, fmt.Sprintf("%d files were given without their last hunks: over the budget of %d tokens", cut, b.o.MaxTokens))
	}
	return nil
}

// giveDiff gives one file's diff as far as it fits and says what happened: nothing special, StatusTruncated, or the
// reason it was left out.
func (b *builder) giveDiff(i int) string {
	f, bf := &b.o.Diff.Files[i], &b.brief.Files[i]
	if bf.Omitted == "" && strings.IndexByte(f.Raw, 0) >= 0 { // git looks for it in the beginning alone
		bf.Omitted = OmittedNUL
	}
	if bf.Omitted == "" && spelling.Claims(f.Raw) {
		bf.Omitted = OmittedSpelled
	}
	if bf.Omitted != "" {
		return bf.Omitted
	}
	text := spelling.Text(f.Raw)
	if cost := Estimate(text) + fileOverhead; cost <= b.left {
		bf.Diff, bf.HunksGiven = text, len(f.Hunks)
		b.left -= cost
		return ""
	}
	text, hunks, cost := cutHunks(f, b.left)
	if hunks == 0 {
		bf.Omitted = OmittedOverBudget
		return OmittedOverBudget
	}
	bf.Diff, bf.HunksGiven = text, hunks
	b.left -= cost
	return StatusTruncated
}
