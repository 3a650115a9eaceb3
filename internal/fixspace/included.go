package fixspace

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/pushpolicy"
)

// included reads what the CI configurations of commits name. Those that no fixer has changed say it: of the base, and of the head
// that was reviewed. An empty commit is none.
func (b *Workspace) included(ctx context.Context, commits ...string) (*pushpolicy.Included, error) {
	in, whole := &pushpolicy.Included{}, b.Repo.Whole()
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
		if err := in.Add(sizes, func(names []string) (map[string][]byte, error) {
			return whole.ReadFiles(ctx, commit, names, pushpolicy.IncludedBytes)
		}); err != nil {
			return nil, err
		}
	}
	return in, nil
}
