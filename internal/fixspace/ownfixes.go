package fixspace

import (
	"context"
	"maps"
	"slices"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
)

// mostEdits bounds how many files differ in what is compared: fixes that follow one another are one series, and a renamed file counts twice.
const mostEdits = 20 * pushpolicy.DefaultFiles

// mostSeries bounds how many series of prloop's commits in a change are compared: whoever pushes can write prloop's name on theirs. More of them say no more.
const mostSeries = 20

// Tests names the files of tests that prloop's own commits from base to head change, and those that they add, where head is so still (threats.md T588), sorted. Commits that cannot be compared, or change more files than fixes may, are none of prloop's. Errors are those of ctx.
func Tests(ctx context.Context, repo *git.Repository, base, head string) (changed, added []string, err error) {
	commits, err := repo.Since(ctx, base, head)
	if err != nil {
		return nil, nil, context.Cause(ctx)
	}
	names := map[string]bool{} // and whether they were there before
	all := own(commits)
	if len(all) == 0 {
		return nil, nil, context.Cause(ctx)
	}
	links := linksAt(ctx, repo, head)
	for _, s := range all {
		made := testsOf(ctx, repo, links, s.before, s.tip)
		if len(made) == 0 {
			continue
		}
		left := testsOf(ctx, repo, links, s.before, head, slices.Collect(maps.Keys(made))...)
		for name, changes := range made {
			if _, still := left[name]; still || left == nil {
				names[name] = names[name] || changes
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] {
			changed = append(changed, name)
		} else {
			added = append(added, name)
		}
	}
	return changed, added, context.Cause(ctx)
}

// series are commits that follow one another: before is the parent of the first, tip the last.
type series struct{ before, tip string }

// own are the series of prloop's own commits among those of a branch, newest first.
func own(commits []git.Authored) (all []series) {
	for _, c := range commits {
		if c.Author != authorName+" <"+authorEmail+">" || len(c.Parents) == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].before == c.Commit {
			all[n-1].before = c.Parents[0]
		} else if n < mostSeries {
			all = append(all, series{c.Parents[0], c.Commit})
		}
	}
	return all
}

// testsOf are the files of tests, of some or all, that differ between two commits, and whether they were there before; nil where these cannot be compared.
func testsOf(ctx context.Context, repo *git.Repository, links *pushpolicy.Links, from, to string, only ...string) map[string]bool {
	changes, err := repo.Edits(ctx, from, to, mostEdits, only...)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	for _, t := range links.Tests(changes) {
		names[t.Path] = names[t.Path] || t.Kind != pushpolicy.TestAdded
	}
	return names
}

// linksAt are the links of a commit; none where they cannot be read.
func linksAt(ctx context.Context, repo *git.Repository, commit string) *pushpolicy.Links {
	links, whole := &pushpolicy.Links{}, repo.Whole()
	if entries, err := whole.List(ctx, commit, ""); err == nil {
		if targets, err := linksOf(ctx, whole, commit, entries); err == nil {
			links.Add(targets)
		}
	}
	return links
}
