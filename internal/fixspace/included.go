package fixspace

import (
	"context"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// included reads what the CI configurations of commits name, and the commits' links. Those that no fixer has changed say it: of the base, and of the head
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
		links, err := linksOf(ctx, whole, commit, entries)
		if err != nil {
			return nil, err
		}
		in.Links.Add(links)
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

// linksOf are the symbolic links among the entries of a commit, with their targets.
func linksOf(ctx context.Context, repo *git.Repository, commit string, entries []git.Entry) (map[string]string, error) {
	var names []string
	for _, e := range entries {
		if e.IsLink() {
			names = append(names, e.Path)
		}
	}
	texts, err := repo.ReadFiles(ctx, commit, names, pushpolicy.MostLinkBytes)
	if err != nil {
		return nil, err
	}
	targets := make(map[string]string, len(texts))
	for name, text := range texts {
		targets[name] = string(text)
	}
	return targets, nil
}
