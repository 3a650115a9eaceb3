package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A local change other than all since a base is one commit: of what the index has, of a patch, or one that a person names. It is
// made or found once, and then read by its object id, whatever becomes of the checkout meanwhile.

// ErrNothingStaged: the index has what HEAD has.
var ErrNothingStaged = errors.New("nothing is staged")

// UnmergedError: a path in the index is in conflict.
type UnmergedError struct{ Path string }

func (e *UnmergedError) Error() string { return fmt.Sprintf("%s is not merged", e.Path) }

// IndexError: git names an index that is none of the checkout's.
type IndexError struct{ Index, GitDir string }

func (e *IndexError) Error() string {
	return fmt.Sprintf("GIT_INDEX_FILE names %s, which is no file in %s", e.Index, e.GitDir)
}

// Staged makes a commit of what an index of a checkout has, on top of HEAD, in r: of the file index, which git names to hooks where
// another is committed than its usual one, or of that if empty. The working tree is not read: ErrNothingStaged, *UnmergedError, *IndexError.
func (r *Repository) Staged(ctx context.Context, dir, index string) (string, error) {
	c, err := r.git.Checkout(dir)
	if err != nil {
		return "", err
	}
	commit, err := r.staged(ctx, c, index)
	if err != nil {
		return "", fmt.Errorf("staged changes of %s: %w", c.Top, err)
	}
	return commit, nil
}

func (r *Repository) staged(ctx context.Context, c *Checkout, index string) (string, error) {
	at := c.place()
	if at.index = index; index != "" && !c.holds(index) {
		return "", &IndexError{Index: index, GitDir: c.gitDir}
	}
	if err := r.borrow(c.objects()); err != nil {
		return "", err
	}
	head, err := c.Resolve(ctx, "HEAD")
	if errors.Is(err, ErrUnknownRevision) { // before the first commit
		head, err = r.void(ctx)
	}
	if err != nil {
		return "", err
	}
	// The index is listed by git where it stands: parts of it may stand in files beside it.
	entries, err := c.git.run(ctx, command{name: "ls-files", at: at, args: []string{"-z", "--stage"}, limit: listLimit})
	if err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(entries), "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		meta, path, _ := strings.Cut(entry, "\t")
		if !strings.HasSuffix(meta, " 0") {
			return "", &UnmergedError{Path: path}
		}
		if err := checkPath(path); err != nil {
			return "", err
		}
	}
	tree, err := r.indexed(ctx, command{name: "update-index", args: []string{"-z", "--index-info"}, stdin: entries})
	if err != nil {
		return "", err
	}
	return r.onTop(ctx, head, tree, "staged\n", ErrNothingStaged)
}

// holds reports whether a file stands in the git folder of the checkout, by whatever links the folder is reached.
func (c *Checkout) holds(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	in, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return false
	}
	own, err := os.Stat(c.gitDir)
	return err == nil && os.SameFile(in, own)
}

// indexed is the tree that a command leaves in a private index.
func (r *Repository) indexed(ctx context.Context, fill command) (string, error) {
	tmp, err := os.MkdirTemp(r.dir, "index-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	fill.at = place{dir: r.dir, index: filepath.Join(tmp, "index")}
	if _, err := r.git.run(ctx, fill); err != nil {
		return "", err
	}
	out, err := r.git.run(ctx, command{name: "write-tree", at: fill.at})
	return strings.TrimSpace(string(out)), err
}

// onTop makes a commit of a tree on top of head; same is the error when that is what head has.
func (r *Repository) onTop(ctx context.Context, head, tree, message string, same error) (string, error) {
	had, _, _, err := r.git.commitAt(ctx, r.place(), head)
	if err != nil {
		return "", err
	}
	if had == tree {
		return "", same
	}
	return r.keep(ctx, message, tree, head)
}

// void is a commit of ours without any file.
func (r *Repository) void(ctx context.Context) (string, error) {
	out, err := r.git.run(ctx, command{name: "mktree", at: r.place(), args: []string{"-z"}})
	if err != nil {
		return "", err
	}
	return r.keep(ctx, "nothing\n", strings.TrimSpace(string(out)))
}

// Named is the commit of a checkout that a person names. r can read it from then on: ErrUnknownRevision.
func (r *Repository) Named(ctx context.Context, dir, rev string) (string, error) {
	c, err := r.git.Checkout(dir)
	if err != nil {
		return "", err
	}
	if err := r.borrow(c.objects()); err != nil {
		return "", err
	}
	return c.Resolve(ctx, rev)
}

// OneCommit is the range of a single commit of r: what it changed since its first parent, or all of it where it has none.
func (r *Repository) OneCommit(ctx context.Context, commit string) (l LocalRange, err error) {
	if !IsOID(commit) {
		return l, fmt.Errorf("commit %q: %w", commit, ErrName)
	}
	_, parents, _, err := r.git.commitAt(ctx, r.place(), commit)
	if err != nil {
		return l, fmt.Errorf("read commit %s: %w", commit, err)
	}
	l.HEAD, l.Head = commit, commit
	if len(parents) == 0 {
		l.Base, err = r.void(ctx)
	} else if l.Base, err = r.Resolve(ctx, parents[0]); errors.Is(err, ErrUnknownRevision) {
		err = fmt.Errorf("the parent of %s: %w", commit, ErrShallow)
	}
	if err != nil {
		return l, err
	}
	l.MergeBase = l.Base
	l.Subjects, err = r.subjects(ctx, l.Base, commit)
	return l, err
}
