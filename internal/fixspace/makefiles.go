package fixspace

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/pushpolicy"
)

// makefiles reads those of commits that no fixer has changed: of the base, and of the head that was reviewed. An empty commit is none.
func (b *Workspace) makefiles(ctx context.Context, commits ...string) (*pushpolicy.Makefiles, error) {
	m, whole := &pushpolicy.Makefiles{}, b.Repo.Whole()
	for i, commit := range commits {
		if commit == "" || slices.Contains(commits[:i], commit) {
			continue
		}
		entries, err := whole.List(ctx, commit, "")
		if err != nil {
			return nil, err
		}
		sizes := make(map[string]int64, len(entries))
		for _, e := range entries {
			sizes[e.Path] = e.Size
		}
		if err := m.Add(sizes, func(names []string) (map[string][]byte, error) {
			return whole.ReadFiles(ctx, commit, names, pushpolicy.MakefileBytes)
		}); err != nil {
			return nil, err
		}
	}
	return m, nil
}
