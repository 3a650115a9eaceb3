package repocontext

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/symbols"
	"github.com/prloop/prloop/review"
)

const (
	// sourceLimit is the largest file read for context, in bytes.
	sourceLimit = 1 << 20
	// parseTotal bounds how much source is parsed for one brief, in bytes, at about 0.7 MB/s a core; what comes after gets
	// its regions from indentation. A bound on bytes, not on time, so that the same input gives the same brief.
	parseTotal = 3 << 20
	// contextBatch is how many files are read and parsed before the budget is looked at again.
	contextBatch = 32
	// contextLeast is the budget below which no more context is tried, in tokens; a region of 41 lines takes about as much.
	contextLeast = 500
)

// giveContext adds the code around the changes, file by file in order, while the budget lasts.
func (b *builder) giveContext(ctx context.Context) error {
	if b.o.HunksOnly {
		return nil
	}
	want := slices.DeleteFunc(slices.Clone(b.order), func(i int) bool {
		// New files stand whole in their diff, as those that left an excuse do; deleted ones have no head version.
		f := &b.o.Diff.Files[i]
		return f.Change == diff.Added || f.Change == diff.Deleted || b.brief.Files[i].HunksGiven == 0 || b.whole[i] || listing(f.Path)
	})
	parse, missed := parseTotal, 0
	for len(want) > 0 {
		if b.left < contextLeast {
			missed += len(want)
			break
		}
		// No more files are parsed than the budget could take.
		n := min(contextBatch, b.left/contextLeast, len(want))
		batch := want[:n]
		want = want[n:]
		regions, err := b.regions(ctx, batch, &parse)
		if err != nil {
			return err
		}
		for n, i := range batch {
			whole := true
			for _, r := range regions[n] {
				cost := regionTokens([]review.Region{r})
				if cost > b.left {
					whole = false
					continue
				}
				b.left -= cost
				b.brief.Files[i].Context = append(b.brief.Files[i].Context, r)
			}
			if !whole {
				missed++
			}
		}
	}
	if missed > 0 {
		b.short = append(b.short, fmt.Sprintf("%d files were given without all of the code around their changes: over the budget of %d tokens", missed, b.o.MaxTokens))
	}
	return nil
}

// regions computes the regions of a batch of files, several at a time; results are by slot.
func (b *builder) regions(ctx context.Context, batch []int, parse *int) ([][]review.Region, error) {
	names := b.paths(batch)
	texts, err := b.src.ReadFiles(ctx, b.o.Head, names, sourceLimit)
	if err != nil {
		return nil, err
	}
	all := make([][]review.Region, len(batch))
	saved := make([]int, len(batch))
	var g errgroup.Group
	g.SetLimit(min(4, runtime.GOMAXPROCS(0)))
	for n, i := range batch {
		text, ok := texts[names[n]]
		if !ok || saysGenerated(names[n], text) {
			continue
		}
		structured := len(text) <= *parse
		if structured && symbols.Known(lang.Of(names[n])) {
			*parse -= len(text)
		}
		f := &b.o.Diff.Files[i]
		given := f.Hunks[:b.brief.Files[i].HunksGiven]
		g.Go(func() error {
			whole, in := regionsOf(f.Path, text, given, structured)
			all[n] = besideDiff(whole, given, in)
			saved[n] = regionTokens(whole) - regionTokens(all[n])
			return nil
		})
	}
	err = g.Wait()
	for _, n := range saved {
		b.saved += n
	}
	return all, err
}

func regionTokens(regions []review.Region) (n int) {
	for _, r := range regions {
		n += Estimate(r.Text) + fileOverhead
	}
	return n
}
