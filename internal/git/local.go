package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/review"
)

// LocalRange is what `prloop run --base main` reviews: everything a checkout has that its base has not.
type LocalRange struct {
	// Base is the commit the person's base stands for, MergeBase where the work left it.
	Base, MergeBase string
	// HEAD is the checkout's commit. Head is the commit under review: HEAD itself when the working tree is clean, else a
	// commit in our own repository that has the working tree's content and HEAD as its parent. Same content, same commit.
	HEAD, Head string
	// Subjects are the first lines of the messages of its commits, newest first, at most subjectsMost.
	Subjects []string
	// Skipped are files of the working tree that are not part of Head: too large to take over, or kept by git in other bytes.
	Skipped []SkippedFile
}

// subjectsMost bounds how many subjects are told of a local range.
const subjectsMost = 50

// SkippedFile is a changed file of a working tree that was not taken over.
type SkippedFile struct {
	Path string
	// Begins are its first bytes, beginning at most; empty when they could not be read, or may not be, because a filter hides them from git.
	Begins []byte
	// Filter is the filter that makes other bytes of it where it is staged; empty where it is too large.
	Filter string
	// Inside says of a folder that is another repository what it is: nested or dirty. It is empty of files.
	Inside string
}

// What other repositories inside a checkout are of which no commit of the checkout's holds what lies there.
const (
	// Nested is one that the index does not have.
	Nested = "nested repository"
	// Dirty is a submodule whose folder holds other content than its commit.
	Dirty = "dirty submodule"
)

// beginning is how much of a skipped file is read, in bytes.
const beginning = 64 << 10

// takeLimit is the largest file of a working tree that is taken over; larger ones would be omitted from the diff anyway.
const takeLimit = 8 << 20

// Local computes the range between base, which may be review.EmptyTree, and the working tree of a checkout, uncommitted and untracked files included,
// ignored ones not. The checkout is only read: the tree is built in r with an index of our own, r's configuration (so no
// filter, hook or monitor of the checkout runs) and borrowed objects. Submodules are at the commit that is checked out in them; what else
// other repositories inside the checkout hold is looked at by nobody, and they are named.
func (r *Repository) Local(ctx context.Context, dir, base string) (LocalRange, error) {
	c, err := r.git.Checkout(dir)
	if err != nil {
		return LocalRange{}, err
	}
	l, err := r.local(ctx, c, base)
	if err != nil {
		return LocalRange{}, fmt.Errorf("local range since %q in %s: %w", base, c.Top, err)
	}
	return l, nil
}

func (r *Repository) local(ctx context.Context, c *Checkout, base string) (l LocalRange, err error) {
	if l.HEAD, err = c.Resolve(ctx, "HEAD"); err != nil {
		return l, err
	}
	if err = r.borrow(c.objects()); err != nil {
		return l, err
	}
	if l.Base, l.MergeBase, err = r.since(ctx, c, base, l.HEAD); err != nil {
		return l, err
	}
	tmp, err := os.MkdirTemp(r.dir, "index-*")
	if err != nil {
		return l, err
	}
	defer os.RemoveAll(tmp)
	w := worktree{r: r, c: c, at: place{dir: r.dir, index: filepath.Join(tmp, "index"), work: c.Top}}
	if err = w.begin(ctx, l.HEAD); err != nil {
		return l, err
	}
	if l.Skipped, err = w.update(ctx); err != nil {
		return l, err
	}
	if l.Head, err = w.commit(ctx, l.HEAD); err != nil {
		return l, err
	}
	l.Subjects, err = r.subjects(ctx, l.MergeBase, l.HEAD)
	return l, err
}

// since is the commit that a base of c stands for, and where HEAD left it. Since the empty tree all is new.
func (r *Repository) since(ctx context.Context, c *Checkout, base, head string) (at, left string, err error) {
	if base == review.EmptyTree {
		at, err = r.void(ctx)
		return at, at, err
	}
	if at, err = c.Resolve(ctx, base); err != nil {
		return at, left, err
	}
	bases, err := c.git.mergeBases(ctx, c.place(), c.common, at, head)
	if err != nil {
		return at, left, err
	}
	left, err = r.joined(ctx, bases)
	return at, left, err
}

// Borrow lets r read the objects of a checkout, nothing of which is copied or changed: its commits can then be compared in r.
func (r *Repository) Borrow(c *Checkout) error {
	if err := r.borrow(c.objects()); err != nil {
		return fmt.Errorf("borrow the objects of %s: %w", c.Top, err)
	}
	return nil
}

// subjects are the first lines of the messages of the commits of tip that base has not, newest first.
func (r *Repository) subjects(ctx context.Context, base, tip string) ([]string, error) {
	out, err := r.git.run(ctx, command{name: "log", at: r.place(), args: []string{
		"--no-show-signature", "--no-decorate", "--no-color", fmt.Sprintf("-n%d", subjectsMost), "--format=%<(300,trunc)%s", "--end-of-options", tip, "^" + base, "--"}})
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list, nil
}

// worktree builds a tree of a working tree.
type worktree struct {
	r        *Repository
	c        *Checkout
	at       place
	settings []setting
}

// begin fills the private index: with a copy of the checkout's own, which knows what is unchanged, so that only changed
// files are read, and large files kept elsewhere stay the pointers they are in git; else with HEAD.
func (w *worktree) begin(ctx context.Context, head string) error {
	// How names and line ends compare on this disk; harmless, and without it every file of such a checkout looks changed.
	kept, err := w.c.config(ctx, `^core\.(autocrlf|eol|filemode|ignorecase|precomposeunicode)$`)
	if err != nil {
		return err
	}
	w.settings = append(kept, setting{"core.symlinks", "true"})
	theirs := filepath.Join(w.c.gitDir, "index")
	written, statErr := os.Stat(theirs)
	if text, err := os.ReadFile(theirs); err == nil && statErr == nil {
		if err := os.WriteFile(w.at.index, text, 0o600); err != nil {
			return err
		}
		// git looks into a file that is as large as before and no older than its index, because times alone do not tell that
		// it was changed right after. A copy that looks newer would hide such changes.
		if err := os.Chtimes(w.at.index, written.ModTime(), written.ModTime()); err != nil {
			return err
		}
		if _, err := w.run(ctx, "ls-files", nil, "-z"); err == nil {
			return nil
		}
		if err := os.Remove(w.at.index); err != nil {
			return err
		}
	} else if err = errors.Join(err, statErr); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err = w.run(ctx, "read-tree", nil, "--end-of-options", head)
	return err
}

func (w *worktree) run(ctx context.Context, name string, stdin []byte, args ...string) ([]byte, error) {
	return w.r.git.run(ctx, command{name: name, at: w.at, settings: w.settings, args: args, stdin: stdin, limit: listLimit, packs: name == "update-index"})
}

// update brings the index up to the working tree. Not `git add`: that asks every submodule for its state with a git that
// obeys the submodule's own configuration.
func (w *worktree) update(ctx context.Context) (skipped []SkippedFile, err error) {
	modules, err := w.submodules(ctx)
	if err != nil {
		return nil, err
	}
	var inside []SkippedFile
	for _, path := range sortedKeys(modules) {
		if w.dirty(ctx, path) {
			inside = append(inside, SkippedFile{Path: path, Inside: Dirty})
		}
	}
	var gone, there bytes.Buffer
	seen, files := map[string]bool{}, map[string]fs.FileInfo{}
	for _, args := range w.listings() {
		out, err := w.run(ctx, "ls-files", nil, args...)
		if err != nil {
			return nil, err
		}
		for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			// A name with a slash at its end is a repository inside the checkout: not ours to look into.
			path, nested := strings.CutSuffix(path, "/")
			if path == "" || seen[path] {
				continue
			}
			seen[path] = true
			if err := checkPath(path); err != nil {
				return nil, err
			}
			if nested {
				inside = append(inside, SkippedFile{Path: path, Inside: Nested})
				continue
			}
			info, err := w.lstat(path)
			to := &there
			switch {
			case modules[path] && err != nil: // a file in a submodule's place is a change as any other, no folder is none
				continue
			case modules[path] && info.IsDir(): // another commit is checked out there
			case err != nil || info.IsDir():
				to = &gone
			case info.Mode().IsRegular():
				files[path] = info
				continue
			}
			to.WriteString(path + "\x00")
		}
	}
	taken, skipped, err := w.sift(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, path := range taken {
		there.WriteString(path + "\x00")
	}
	if gone.Len() > 0 {
		if _, err := w.run(ctx, "update-index", gone.Bytes(), "-z", "--force-remove", "--stdin"); err != nil {
			return nil, err
		}
	}
	if there.Len() > 0 {
		_, err = w.run(ctx, "update-index", there.Bytes(), "-z", "--add", "--replace", "--remove", "--stdin")
	}
	return append(inside, skipped...), err
}

// dirty reports whether the folder of a submodule holds what its commit does not, as this git tells it from a copy of its index: none that obeys the submodule's
// configuration runs. Where that cannot be told it does, but for a folder in which nothing is checked out.
func (w *worktree) dirty(ctx context.Context, name string) bool {
	info, err := w.lstat(name)
	if err != nil || !info.IsDir() {
		return false
	}
	top := filepath.Join(w.c.Top, filepath.FromSlash(name))
	c, err := w.c.git.Checkout(top)
	if err != nil || c.Top != top {
		held, err := os.ReadDir(top)
		return err != nil || len(held) > 0
	}
	tmp, err := os.MkdirTemp(filepath.Dir(w.at.index), "module-*")
	if err != nil {
		return true
	}
	in := worktree{r: w.r, c: c, at: place{dir: w.r.dir, index: filepath.Join(tmp, "index"), work: top}}
	if err := in.begin(ctx, "HEAD"); err != nil {
		return true
	}
	for _, args := range in.listings() {
		if out, err := in.run(ctx, "ls-files", nil, args...); err != nil || len(out) > 0 {
			return true
		}
	}
	staged, err := in.run(ctx, "write-tree", nil, "--missing-ok")
	if err != nil {
		return true
	}
	committed, err := c.git.run(ctx, command{name: "rev-parse", at: c.place(), args: []string{"--verify", "--end-of-options", "HEAD^{tree}"}})
	return err != nil || !bytes.Equal(staged, committed)
}

// lstat is what stands at a path of the working tree. What lies behind a link in the place of a folder is not there, as it is not for git.
func (w *worktree) lstat(name string) (fs.FileInfo, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(w.c.Top, filepath.FromSlash(dir))); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fs.ErrNotExist
		}
	}
	return os.Lstat(filepath.Join(w.c.Top, filepath.FromSlash(name)))
}

// begins reads the first bytes of a file of the working tree, never through a link that leads out of it.
func (w *worktree) begins(path string) []byte {
	root, err := os.OpenRoot(w.c.Top)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(path), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	data := make([]byte, beginning)
	n, _ := io.ReadFull(f, data)
	return data[:n]
}

// listings are the arguments that list what changed, and what is new and not ignored.
func (w *worktree) listings() [][]string {
	others := []string{"-z", "--others", "--exclude-standard"}
	if exclude := filepath.Join(w.c.common, "info", "exclude"); regular(exclude) {
		others = append(others, "--exclude-from="+exclude)
	}
	return [][]string{{"-z", "--modified", "--deleted"}, others}
}

func regular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// submodules are the index's submodules.
func (w *worktree) submodules(ctx context.Context) (map[string]bool, error) {
	out, err := w.run(ctx, "ls-files", nil, "-z", "--stage")
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, path, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(entry, "160000 ") {
			modules[path] = true
		}
	}
	return modules, nil
}

// commit makes a commit of the index, with fixed names and dates, and keeps it under a ref of ours.
func (w *worktree) commit(ctx context.Context, head string) (string, error) {
	out, err := w.run(ctx, "write-tree", nil)
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	at := w.r.place()
	out, err = w.r.git.run(ctx, command{name: "rev-parse", at: at, args: []string{"--verify", "--end-of-options", head + "^{tree}"}})
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(string(out)) == tree {
		return head, nil
	}
	return w.r.keep(ctx, "working tree\n", tree, head)
}
