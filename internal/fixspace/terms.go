package fixspace

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// nearTests is how many files of tests a fixer is told of.
const nearTests = 10

// terms are what this try of the fixer is held to.
func (b *Workspace) terms(ctx context.Context, o review.FixOrder) (*review.FixTerms, error) {
	files, err := b.Repo.Files(ctx, o.From, "")
	if err != nil {
		return nil, err
	}
	brake := pushpolicy.Brake(o.PRFiles, o.PRLines)
	t := &review.FixTerms{Detected: o.Detected, Files: brake.BrakeFiles, Lines: brake.BrakeLines, Checks: o.Checks}
	for _, c := range o.Verify {
		t.Verify = append(t.Verify, b.shown(c))
	}
	if o.Setup != nil {
		setup := *o.Setup
		setup.Command, _ = sanitize.Visible(setup.Command)
		setup.Log, _ = sanitize.Visible(setup.Log)
		t.Setup = &setup
	}
	t.Tests, t.TestFiles = near(files, o.Task)
	if o.First != "" && o.First != o.From {
		before, err := b.Repo.Changes(ctx, o.First, o.From)
		if err != nil {
			return nil, err
		}
		t.FilesUsed, t.LinesUsed = pushpolicy.Totals(before)
	}
	return t, nil
}

// shown is a command as a fixer is told of it.
func (b *Workspace) shown(command string) string {
	s, _ := sanitize.Visible(b.Learned.Redact(command))
	return s
}

// near lists the files of tests that stand closest to what is changed or found, and counts all there are. Close is a test with the
// file's name in its own, then one in the same folder or a folder below it.
func near(files []string, task review.Task) (tests []string, all int) {
	var about []string
	for _, f := range task.Brief.Files {
		about = append(about, spelling.Raw(f.Path))
	}
	if task.Fix != nil {
		for _, f := range task.Fix.IssuesToFix {
			about = append(about, spelling.Raw(f.File))
		}
	}
	type ranked struct {
		name string
		rank int
	}
	var found []ranked
	for _, name := range files {
		if !pushpolicy.IsTest(name) {
			continue
		}
		all++
		rank := 0
		for _, a := range about {
			rank = max(rank, closeness(name, a))
		}
		if rank > 0 {
			found = append(found, ranked{name, rank})
		}
	}
	slices.SortStableFunc(found, func(x, y ranked) int { return cmp.Compare(y.rank, x.rank) })
	for _, f := range found[:min(len(found), nearTests)] {
		tests = append(tests, spelling.Name(sanitize.MaskPath(f.name)))
	}
	return tests, all
}

func closeness(test, file string) int {
	if file == "" {
		return 0
	}
	rank := 0
	stem, _, _ := strings.Cut(path.Base(file), ".")
	if len(stem) > 2 && strings.Contains(strings.ToLower(path.Base(test)), strings.ToLower(stem)) {
		rank += 2
	}
	if dir := path.Dir(file); test == file || path.Dir(test) == dir || dir != "." && strings.HasPrefix(test, dir+"/") {
		rank++
	}
	return rank
}
