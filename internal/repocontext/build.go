package repocontext

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/diff"
	"github.com/prloop/prloop/internal/lang"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

// Statuses of a brief. Truncated is one from which changed lines were left out.
const (
	StatusOK        = "ok"
	StatusTruncated = "truncated"
)

// Build makes the brief. Guidance comes first, then every file's diff, then the code around the changes, each as far as
// the budget goes, the most changed files first, and last the code outside the changes that helps to judge them. No line of the head
// version stands there twice. Everything depends on the options and the source alone, except that a file whose structure takes too
// much processor time to parse is read by indentation and by lines.
func Build(ctx context.Context, src Source, o Options) (review.Brief, error) {
	if o.MaxTokens <= 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	if err := o.checkPatterns(); err != nil {
		return review.Brief{}, fmt.Errorf("build brief: %w", err)
	}
	o.Diff = &diff.Diff{Files: slices.Clone(o.Diff.Files)} // files that leave an excuse get another text
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
	saved int // tokens that lines would take which stand in the diff already
	// order are the files to give, as indexes into the diff's files, the most important first.
	order []int
	ask   []bool   // files that may say at the base and at the head that they are generated
	cut   []string // what the budget forced out of the change, in words
	short []string // and what of the rules and of the code around it
	// attributed are files that attributes leave out; set those of which attributes of the base say whether they are generated, and
	// unset those of which the head's alone do; back those that a name or an attribute would have left out.
	attributed, set, unset, back []bool
	standing                     map[string]map[string][]string     // what baseFiles has listed, by folder
	held                         map[string]bool                    // what holds has found, by folder and language
	ways                         map[string]map[pushpolicy.Way]bool // what ranBefore knows of folders at the base
	whole                        []bool                             // files that left an excuse, of which all text is given
	tree                         []string                           // what headNames gives, once it is asked
	built                        *string                            // what builtAs has found
	led                          ledTo                              // what is known of the paths that new links lead to or by
	unparsed, unread             int                                // files in which the search for code outside the diff gave something up
}

func (b *builder) build(ctx context.Context) error {
	files := b.o.Diff.Files
	b.brief.Files = make([]review.BriefFile, len(files))
	b.brief.Warnings = []string{}
	var paths, old []string
	for i := range files {
		b.brief.Files[i] = b.describe(&files[i])
		if b.brief.Files[i].Omitted != OmittedExcluded {
			paths, old = append(paths, files[i].Path), append(old, cmp.Or(files[i].OldPath, files[i].Path))
		}
	}
	attrs, err := readAttributes(ctx, b.src, b.o, b.o.Base, append(old, paths...))
	if err != nil {
		return err
	}
	now, err := readAttributes(ctx, b.src, b.o, b.o.Head, paths)
	if err != nil {
		return err
	}
	b.classify(attrs, now)
	if err := b.findMoved(ctx); err != nil {
		return err
	}
	if err := b.excusable(ctx); err != nil {
		return err
	}
	if err := b.release(ctx, attrs); err != nil {
		return err
	}
	if err := b.readConverted(ctx, attrs, now); err != nil {
		return err
	}
	b.arrange()
	var cut int
	if b.brief.Guidance, cut, err = guidance(ctx, b.src, b.o, folders(paths), b.left/guidanceShare); err != nil {
		return err
	}
	if cut > 0 {
		b.short = append(b.short, fmt.Sprintf("%d guidance files were shortened or left out", cut))
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
	if err := b.giveRelated(ctx); err != nil {
		return err
	}
	if err := b.lookInto(ctx); err != nil {
		return err
	}
	b.finish()
	return nil
}

func (b *builder) describe(f *diff.File) review.BriefFile {
	bf := review.BriefFile{Path: spelling.Name(f.Path), OldPath: spelling.Name(f.OldPath), Change: string(f.Change), Language: lang.Of(f.Path),
		Additions: f.Additions, Deletions: f.Deletions, Hunks: len(f.Hunks), Size: f.Size()}
	if b.o.excluded(f.Path) || (f.OldPath != "" && b.o.excluded(f.OldPath)) {
		bf.Omitted = OmittedExcluded
	} else {
		bf.Omitted = byName(f)
	}
	return bf
}

// classify takes out what attributes call generated or vendored, at the base and at the head, and takes back what a name excuses where they say at the
// base that it is neither.
func (b *builder) classify(base, head attributes) {
	files := b.o.Diff.Files
	b.attributed, b.set, b.unset = make([]bool, len(files)), make([]bool, len(files)), make([]bool, len(files))
	for i := range files {
		f, bf := &files[i], &b.brief.Files[i]
		if bf.Omitted == OmittedExcluded {
			continue
		}
		old := cmp.Or(f.OldPath, f.Path)
		if base.named(old) != named(old) || base.named(f.Path) != named(f.Path) {
			bf.Omitted = unshown(f)
		}
		before, set := base.reason(old)
		now, kept := head.reason(f.Path)
		b.set[i], b.unset[i] = set, kept && !set
		if now == "" || now != before || runnable(f) {
			continue
		}
		if here, _ := base.reason(f.Path); here != now { // the base has to speak of the new name too
			continue
		}
		b.attributed[i] = true
		if bf.Omitted == OmittedBinary || !slices.Contains(excused, bf.Omitted) {
			bf.Omitted = now
		}
	}
}

// askMarks looks for a generator's mark in changed files, at the base and at the head: one that lost its mark in this change, or of
// which the head's attributes speak now, is no generated file any more.
func (b *builder) askMarks(ctx context.Context, batch []int) error {
	marked := slices.DeleteFunc(slices.Clone(batch), func(i int) bool { return !b.ask[i] })
	var lost []int
	for _, commit := range []string{b.o.Base, b.o.Head} {
		if len(marked) == 0 {
			return nil
		}
		texts, err := b.src.ReadFiles(ctx, commit, b.paths(marked), sourceLimit)
		if err != nil {
			return err
		}
		marked = slices.DeleteFunc(marked, func(i int) bool {
			f := &b.o.Diff.Files[i]
			if commit == b.o.Head && f.Change == diff.Deleted {
				return false
			}
			gone := !carriesMark(f.Path, texts[f.Path]) || hasInterpreter(texts[f.Path]) || commit == b.o.Head && b.unset[i]
			if gone && commit == b.o.Head {
				lost = append(lost, i)
			}
			return gone
		})
	}
	for _, i := range marked {
		b.brief.Files[i].Omitted = OmittedGenerated
	}
	return b.giveWhole(ctx, lost)
}

// paths are those of files.
func (b *builder) paths(files []int) []string {
	names := make([]string, len(files))
	for n, i := range files {
		names[n] = b.o.Diff.Files[i].Path
	}
	return names
}

// beginnings are the texts of files at a commit, of those that are not there or too large the first n bytes.
func (b *builder) beginnings(ctx context.Context, commit string, names []string, n int) (map[string][]byte, error) {
	texts, err := b.src.ReadFiles(ctx, commit, names, sourceLimit)
	if err != nil || len(texts) == len(names) {
		return texts, err
	}
	large, err := b.src.Begins(ctx, commit, slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := texts[name]; return ok }), n)
	maps.Copy(texts, large)
	return texts, err
}

// begins are the first n bytes of one file at the head; nothing for what is no file there.
func (b *builder) begins(ctx context.Context, name string, n int) ([]byte, error) {
	texts, err := b.src.Begins(ctx, b.o.Head, []string{name}, n)
	return texts[name], err
}

// diffBatch is how many files are read at once to look for generators' marks.
const diffBatch = 128

// finish sets what depends on the whole.
func (b *builder) finish() {
	b.brief.Status = StatusOK
	if len(b.cut) > 0 {
		b.brief.Status = StatusTruncated
	}
	b.brief.Warnings = append(append(b.brief.Warnings, b.cut...), b.short...)
	reasons := map[string]int{}
	for i := range b.brief.Files {
		switch f := &b.brief.Files[i]; {
		case f.Omitted == OmittedOverBudget && b.back[i] && len(pushpolicy.Ways(b.o.Diff.Files[i].Path)) > 0:
			f.Omitted = overBudgetRun
		case f.Omitted != "" && f.Omitted != OmittedOverBudget:
			reasons[f.Omitted]++
		}
	}
	var left []string
	for reason, n := range reasons {
		left = append(left, fmt.Sprintf("%s left out: %s", files(n), reason))
	}
	slices.Sort(left)
	b.brief.Warnings = append(append(b.brief.Warnings, left...), b.lookedShort()...)
	b.brief.Tokens = b.o.MaxTokens - b.left
}

// files counts files in a sentence.
func files(n int) string {
	if n == 1 {
		return "1 file was"
	}
	return fmt.Sprintf("%d files were", n)
}
