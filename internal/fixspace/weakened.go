package fixspace

import (
	"context"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// mostSeries bounds how many series of prloop's commits in a change are compared: whoever pushes can write prloop's name on theirs.
const mostSeries = 20

// Weakened names the files whose tests prloop's own commits among some of a branch, newest first, delete, skip or weaken, where its head is so still (threats.md T588), sorted.
// Errors are those of git.
func Weakened(ctx context.Context, repo *git.Repository, commits []git.Authored, head string) ([]string, error) {
	names := map[string]bool{}
	for _, s := range own(commits) {
		made, err := testsOf(ctx, repo, s.before, s.tip)
		if err != nil {
			return nil, err
		}
		if len(made) == 0 {
			continue
		}
		left, err := testsOf(ctx, repo, s.before, head)
		if err != nil {
			return nil, err
		}
		for name := range made {
			if left == nil || left[name] {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// series are commits that follow one another: before is the parent of the first, tip the last.
type series struct{ before, tip string }

// own are the series of prloop's own commits among those of a branch, newest first.
func own(commits []git.Authored) (all []series) {
	for _, c := range commits {
		if c.Author != authorName+" <"+authorEmail+">" || c.Parent == "" {
			continue
		}
		if n := len(all); n > 0 && all[n-1].before == c.Commit {
			all[n-1].before = c.Parent
		} else if n < mostSeries {
			all = append(all, series{c.Parent, c.Commit})
		}
	}
	return all
}

// testsOf are the files whose tests changed for the worse between two commits; nil where these cannot be compared.
func testsOf(ctx context.Context, repo *git.Repository, from, to string) (map[string]bool, error) {
	changes, err := repo.Changes(ctx, from, to)
	if _, about := refusalOf(err); about {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, t := range pushpolicy.Tests(changes) {
		names[t.Path] = true
	}
	return names, nil
}
