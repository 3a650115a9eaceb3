package fixspace

import (
	"context"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/review"
)

// noteOneCommit says in the report why there is one commit.
const noteOneCommit = "the commits became one: together they wrote more than the fix shows"

// join makes one commit of a fix whose commits write anything that what the next round reads does not show: a branch keeps it, and so does a merge that keeps commits
// (threats.md T785). The message is that of the last. What the commits were stays with the work, to be searched for credentials.
func (b *Workspace) join(ctx context.Context, o review.FixOrder, commits []git.Taken, work *outcome) ([]git.Taken, error) {
	if len(commits) < 2 {
		return commits, nil
	}
	more, err := b.moreThanNet(ctx, o.Reviewed, commits)
	if err != nil || !more {
		return commits, err
	}
	tip := commits[len(commits)-1]
	made, err := b.Repo.Rewrite(ctx, o.Reviewed, []git.Taken{{Tree: tip.Tree, Message: tip.Message}}, signature(o))
	if err != nil {
		return nil, err
	}
	work.Apart = commitsOf(commits)
	work.Notes = append(work.Notes, noteOneCommit)
	return []git.Taken{{Commit: last(made, o.Reviewed), Parent: o.Reviewed, Tree: tip.Tree, Message: tip.Message}}, nil
}

// written is a line that a commit adds to a file or takes from it, or the file itself where git shows no line of it. Renames are not looked for: a renamed file is one that
// is gone and one that is new.
type written struct {
	path, text string
	sign       byte
}

// moreThanNet reports that commits since one add or remove a line that the difference between their ends does not, or more often than it does.
func (b *Workspace) moreThanNet(ctx context.Context, from string, commits []git.Taken) (bool, error) {
	net := map[written]int{}
	tip := commits[len(commits)-1].Commit
	if err := b.count(ctx, from, tip, func(w written) { net[w]++ }); err != nil {
		return false, err
	}
	more := false
	for _, c := range commits {
		if err := b.count(ctx, from, c.Commit, func(w written) { net[w]--; more = more || net[w] < 0 }); err != nil {
			return false, err
		}
		from = c.Commit
	}
	return more, nil
}

// count tells what differs between two commits.
func (b *Workspace) count(ctx context.Context, from, to string, tell func(written)) error {
	changes, err := b.Repo.Edits(ctx, from, to, mostEdits)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if len(c.Added)+len(c.Removed) == 0 {
			tell(written{path: c.Path})
		}
		for sign, lines := range map[byte][]pushpolicy.Line{'+': c.Added, '-': c.Removed} {
			for _, l := range lines {
				tell(written{c.Path, l.Text, sign})
			}
		}
	}
	return nil
}
