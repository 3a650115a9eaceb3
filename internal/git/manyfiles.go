package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
)

// mostFiles is how many files the tree of a commit may have, twice of what is exported. Ten trees that name each other many times stand
// for more files than fit into the memory of any machine, and git keeps all that it compares (threats.md T27).
const mostFiles = 2 * exportFiles

// countFiles counts the files of a commit or tree, and stops when there are more than limit: the count is then limit+1.
func (g *Git) countFiles(ctx context.Context, at place, tree string, limit int) (int, error) {
	out := &fileCounter{left: limit}
	_, err := g.run(ctx, command{name: "ls-tree", at: at, out: out, limit: 4 * listLimit, args: []string{"-r", "-z", "--name-only", "--full-tree", "--end-of-options", tree}})
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case out.full:
		return limit + 1, nil
	case err != nil:
		return 0, fmt.Errorf("count the files of %s: %w", tree, err)
	}
	return limit - out.left, nil
}

// fileCounter counts names that end with NUL, and stops their writer when there are too many of them, or too many bytes.
type fileCounter struct {
	left  int
	most  int64 // bytes; 0 is listLimit
	bytes int64
	full  bool
}

func (c *fileCounter) Write(p []byte) (int, error) {
	c.left -= bytes.Count(p, []byte{0})
	if c.bytes += int64(len(p)); c.left < 0 || c.bytes > cmp.Or(c.most, listLimit) {
		c.full = true
		return 0, errFull
	}
	return len(p), nil
}

// comparable refuses a commit or tree with so many files that git could not hold what it compares.
func (r *Repository) comparable(ctx context.Context, tree string) error {
	if r.fewListed(ctx, tree) != nil {
		return nil
	}
	n, err := r.git.countFiles(ctx, r.place(), tree, mostFiles)
	if err == nil && n > mostFiles {
		err = fmt.Errorf("%s has more than %d files: %w", tree, mostFiles, ErrTooLarge)
	}
	return err
}

// grown refuses commits that have many more files than base had: a fix has a hundred new ones at most.
func (q *quarantined) grown(ctx context.Context, r *Repository, base string, taken []Taken) error {
	had, err := r.git.countFiles(ctx, r.place(), base, mostFiles)
	if err != nil {
		return err
	}
	tree := ""
	for _, c := range taken {
		if c.Tree == tree {
			continue
		}
		tree = c.Tree
		n, err := q.git.countFiles(ctx, q.place(), tree, had+takeChanged)
		if err != nil {
			return err
		}
		if n > had+takeChanged {
			return &TakeError{Rule: TakeTooManyFiles, Detail: fmt.Sprintf("commit %s has more than %d new files", c.Commit, takeChanged)}
		}
	}
	return nil
}
