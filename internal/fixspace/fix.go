package fixspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/pushpolicy"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// branch is what a fixer finds checked out in its clone.
const branch = "prloop-fix"

// Who commits are by. The address belongs to nobody.
const (
	authorName  = "prloop"
	authorEmail = "prloop@users.noreply.github.com"
)

// Fix asks the fixer in a private clone of FixOrder.From, takes out what it did, whatever that is, and holds it against the
// push policy (decision 6). What the fixer does wrong stands in the work; an error means that the run ended, or that disk or
// git failed: there is then no work but the fixer's Answer, if it was asked. One is sanitize.ErrKnownSecret: its commit messages
// hold a part of a secret of Workspace.Secrets, which proves that it saw what it must never see (threats.md T30). The same work in
// the same order gives the same object ids. emit takes the fixer's events; nil drops them.
func (b *Workspace) Fix(ctx context.Context, o review.FixOrder, emit func(review.Event)) (review.FixWork, error) {
	if emit == nil {
		emit = func(review.Event) {}
	}
	work, err := b.fix(ctx, o, emit)
	if err != nil {
		return review.FixWork{Answer: work.Answer}, fmt.Errorf("fix in round %d, try %d: %w", o.Round, o.Try, err)
	}
	return work.FixWork, nil
}

// outcome is a try's work in the making.
type outcome struct {
	*Workspace
	review.FixWork
}

func (b *Workspace) fix(ctx context.Context, o review.FixOrder, emit func(review.Event)) (work outcome, err error) {
	work.Workspace = b
	if b.Ask == nil {
		return work, errNoFixer
	}
	dir, err := b.room(fmt.Sprintf("%s%d-%d", fixRoom, o.Round, o.Try), "out")
	if err != nil {
		return work, err
	}
	defer func() { err = errors.Join(err, sandbox.Remove(dir)) }()
	c, err := b.clone(ctx, o, dir)
	if err != nil {
		return work, err
	}
	if o.Task.Terms, err = b.terms(ctx, o); err != nil {
		return work, err
	}
	work.Answer = b.Ask(ctx, o.Task, c.tree, emit)
	if ctx.Err() != nil {
		return work, context.Cause(ctx)
	}
	if work.Answer.Fix == nil {
		// Half of a change that nobody answers for is none.
		work.Notes = append(work.Notes, "the fixer gave no valid answer: what it changed was not looked at")
		return work, nil
	}
	if now, err := os.Lstat(c.tree); err != nil || !os.SameFile(now, c.folder) {
		// Possible only without a sandbox, where another folder would be taken for it.
		work.refuse(review.Refusal{Rule: pushpolicy.RuleLink, Detail: "the clone is not the folder it was"})
		work.settle()
		return work, nil
	}
	work.Notes = append(work.Notes, c.planted()...)
	if err := c.restore(); err != nil {
		if !work.refused(err) {
			return work, err
		}
		work.settle()
		return work, nil
	}
	taken, err := b.takeOut(ctx, o, c, &work, emit)
	if err != nil {
		return work, err
	}
	return work, b.judge(ctx, o, taken, &work)
}

// clone is the fixer's folder.
type clone struct {
	// dir is the room, tree the clone in it, out a folder for what is taken out.
	dir, tree, out string
	// aside is what was moved aside.
	aside Aside
	// folder is tree, config the clone's configuration, as prloop made them.
	folder, config os.FileInfo
}

func (b *Workspace) clone(ctx context.Context, o review.FixOrder, dir string) (*clone, error) {
	c := &clone{dir: dir, tree: filepath.Join(dir, "tree"), out: filepath.Join(dir, "out")}
	err := b.seen().Clone(ctx, o.From, c.tree, branch)
	if err != nil {
		return nil, err
	}
	if c.folder, err = os.Lstat(c.tree); err != nil {
		return nil, err
	}
	if c.config, err = os.Lstat(filepath.Join(c.tree, ".git", "config")); err != nil {
		return nil, err
	}
	return c, b.moveAside(ctx, o, c)
}

// planted says what a fixer did to its clone's git that could have made git run something. None of it was used. No link leads out of
// the clone: what the fixer cannot see is not looked at for it (threats.md T710).
func (c *clone) planted() (notes []string) {
	tree, err := os.OpenRoot(c.tree)
	if err != nil {
		return nil // the work is refused for it
	}
	defer tree.Close()
	now, err := tree.Lstat(".git/config")
	switch {
	case errors.Is(err, os.ErrNotExist):
		notes = append(notes, "the fixer removed the configuration of its clone")
	case err != nil || !now.Mode().IsRegular() || now.Size() != c.config.Size() || !now.ModTime().Equal(c.config.ModTime()):
		notes = append(notes, "the fixer changed the configuration of its clone; nothing of it was used")
	}
	switch hooks, err := tree.Lstat(".git/hooks"); {
	case err != nil: // there are none, or all of git is elsewhere
	case !hooks.IsDir() || !isEmpty(tree, ".git/hooks"):
		notes = append(notes, "the fixer put hooks into its clone; none was run")
	}
	return notes
}

// isEmpty reports that a folder can be read, and nothing is in it.
func isEmpty(tree *os.Root, name string) bool {
	dir, err := tree.Open(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// signature is whom the commits of an order are by, and when.
func signature(o review.FixOrder) git.Signature {
	return git.Signature{Name: authorName, Email: authorEmail, At: o.At, Keep: git.FixRef(o.Run, o.Round)}
}
