package repocontext

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Statuses of a brief.
const (
	StatusOK        = "ok"
	StatusTruncated = "truncated"
)

// Build makes the brief. Guidance comes first, then every file's diff, then the code around the changes, each as far as
// the budget goes, the most changed files first. Everything depends on the options and the source alone, except that a
// file whose structure takes longer than 300 ms to parse gets its regions from indentation.
func Build(ctx context.Context, src Source, o Options) (review.Brief, error) {
	if o.MaxTokens <= 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if err := o.checkPatterns(); err != nil {
		return review.Brief{}, fmt.Errorf("build brief: %w", err)
	}
	b := &builder{src: src, o: &o, left: o.MaxTokens}
	if err := b.build(ctx); err != nil {
		return review.Brief{}, fmt.Errorf("build brief: %w", err)
	}
	return b.brief, nil
}

type builder struct {
	src   Source
	o     *Options
	brief review.Brief
	left  int // tokens
	// order are the files to give, as indexes into the diff's files, the most important first.
	order []int
	ask   []bool   // files whose base version may say that they are generated
	cut   []string // what the budget forced out, in words
}

func (b *builder) build(ctx context.Context) error {
	files := b.o.Diff.Files
	b.brief.Files = make([]review.BriefFile, len(files))
	b.brief.Warnings = []string{}
	var paths []string
	for i := range files {
		b.brief.Files[i] = b.describe(&files[i])
		if b.brief.Files[i].Omitted != OmittedExcluded {
			paths = append(paths, files[i].Path)
		}
	}
	dirs := folders(paths)
	attrs, err := readAttributes(ctx, b.src, b.o, dirs)
	if err != nil {
		return err
	}
	b.classify(attrs)
	var cut int
	if b.brief.Guidance, cut, err = guidance(ctx, b.src, b.o, dirs, b.left/guidanceShare); err != nil {
		return err
	}
	if cut > 0 {
		b.cut = append(b.cut, fmt.Sprintf("%d guidance files were shortened or left out", cut))
	}
	for _, g := range b.brief.Guidance {
		b.left -= Estimate(g.Text) + fileOverhead
	}
	if err := b.giveDiffs(ctx); err != nil {
		return err
	}
	if err := b.giveContext(ctx); err != nil {
		return err
	}
	if err := b.lookInto(ctx); err != nil {
		return err
	}
	b.finish()
	return nil
}

func (b *builder) describe(f *diff.File) review.BriefFile {
	bf := review.BriefFile{Path: spelling.Name(f.Path), OldPath: spelling.Name(f.OldPath), Change: string(f.Change), Language: Language(f.Path),
		Additions: f.Additions, Deletions: f.Deletions, Hunks: len(f.Hunks)}
	if b.o.excluded(f.Path) || (f.OldPath != "" && b.o.excluded(f.OldPath)) {
		bf.Omitted = OmittedExcluded
	} else {
		bf.Omitted = byName(f)
	}
	return bf
}

// classify takes out what attributes call generated and puts the rest in order: most changed lines first, then by name.
// New files that call themselves generated come last but are given: their word alone must not hide them.
func (b *builder) classify(attrs *attributes) {
	files := b.o.Diff.Files
	last := make([]bool, len(files))
	b.ask = make([]bool, len(files))
	for i := range files {
		f, bf := &files[i], &b.brief.Files[i]
		if slices.Contains(excused, bf.Omitted) && bf.Omitted != OmittedBinary {
			continue
		}
		reason, set := attrs.reason(f.Path)
		if f.OldPath != "" && reason != "" {
			if before, _ := attrs.reason(f.OldPath); before != reason {
				reason = ""
			}
		}
		bf.Omitted = cmp.Or(reason, bf.Omitted)
		switch {
		case bf.Omitted != "":
			continue
		case set: // the repository says it is not generated
		case f.Change == diff.Added:
			last[i] = saysGenerated(f.Path, addedHead(f))
		default:
			b.ask[i] = f.OldPath == ""
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

// askBase looks for a generator's mark in the base version of changed files.
func (b *builder) askBase(ctx context.Context, batch []int) error {
	old := func(i int) string {
		if f := &b.o.Diff.Files[i]; f.OldPath != "" {
			return f.OldPath
		}
		return b.o.Diff.Files[i].Path
	}
	var names []string
	for _, i := range batch {
		if b.ask[i] {
			names = append(names, old(i))
		}
	}
	if len(names) == 0 {
		return nil
	}
	texts, err := b.src.ReadFiles(ctx, b.o.Base, names, sourceLimit)
	if err != nil {
		return err
	}
	for _, i := range batch {
		if b.ask[i] && !neverSkipped(old(i)) && carriesMark(texts[old(i)]) {
			b.brief.Files[i].Omitted = OmittedGenerated
		}
	}
	return nil
}

// diffBatch is how many files are read at once to look for generators' marks.
const diffBatch = 128

// giveDiffs hands out diffs while the budget lasts, cut between hunks where it ends. Files too large for what is left are
// not read at all.
func (b *builder) giveDiffs(ctx context.Context) error {
	over, cut := 0, 0
	var batch []int
	flush := func() error {
		if err := b.askBase(ctx, batch); err != nil {
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
	if bf.Omitted != "" {
		return bf.Omitted
	}
	if cost := Estimate(f.Raw) + fileOverhead; cost <= b.left {
		bf.Diff, bf.HunksGiven = spelling.Text(f.Raw), len(f.Hunks)
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

// finish sets what depends on the whole.
func (b *builder) finish() {
	b.brief.Status = StatusOK
	if len(b.cut) > 0 {
		b.brief.Status = StatusTruncated
		b.brief.Warnings = append(b.brief.Warnings, b.cut...)
	}
	reasons := map[string]int{}
	for _, f := range b.brief.Files {
		if f.Omitted != "" && f.Omitted != OmittedOverBudget {
			reasons[f.Omitted]++
		}
	}
	var left []string
	for reason, n := range reasons {
		left = append(left, fmt.Sprintf("%s left out: %s", files(n), reason))
	}
	slices.Sort(left)
	b.brief.Warnings = append(b.brief.Warnings, left...)
	b.brief.Tokens = b.o.MaxTokens - b.left
}

// files counts files in a sentence.
func files(n int) string {
	if n == 1 {
		return "1 file was"
	}
	return fmt.Sprintf("%d files were", n)
}
