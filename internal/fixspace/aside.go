package fixspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/review"
)

// asidePrefix is put before the name of what is moved aside: it can be read and is not loaded (threats.md T03).
const asidePrefix = "moved-aside-"

// Aside is what MoveAside did.
type Aside struct {
	// Prefix stands before the name of all that was moved. No other name of the tree began with it.
	Prefix string
	// Paths are what was moved, under the names it had: slash-separated, sorted, a folder without what is in it.
	Paths []string
}

// MoveAside renames the files and folders of a tree that have one of the names, at every depth, in any letter case, as disks
// an agent may be made for do not tell them apart. A .git at the top is passed over. Nobody else may be in the tree.
func MoveAside(dir string, names []string) (Aside, error) {
	var a Aside
	var inTheWay []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if rest, ok := strings.CutPrefix(strings.ToLower(d.Name()), asidePrefix); ok {
			inTheWay = append(inTheWay, rest)
		}
		listed := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, d.Name()) })
		if listed {
			a.Paths = append(a.Paths, filepath.ToSlash(rel))
		}
		if d.IsDir() && (listed || rel == ".git") {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return a, fmt.Errorf("move aside: %w", err)
	}
	slices.Sort(a.Paths)
	a.Prefix = freePrefix(inTheWay)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return a, err
	}
	defer root.Close()
	for _, p := range a.Paths {
		if err := root.Rename(filepath.FromSlash(p), filepath.FromSlash(a.moved(p))); err != nil {
			return a, fmt.Errorf("move %q aside: %w", p, err)
		}
	}
	return a, nil
}

// freePrefix is asidePrefix, with a number from 2 when names of the tree begin with it. rest is what follows it in those names.
func freePrefix(rest []string) string {
	if len(rest) == 0 {
		return asidePrefix
	}
	used := map[string]bool{}
	for _, r := range rest {
		number, _, _ := strings.Cut(r, "-")
		used[number] = true
	}
	n := 2
	for used[strconv.Itoa(n)] {
		n++
	}
	return fmt.Sprintf("%s%d-", asidePrefix, n)
}

// moved is the name that something has while it is aside.
func (a Aside) moved(p string) string { return path.Join(path.Dir(p), a.Prefix+path.Base(p)) }

// moveAside renames what Workspace.Aside names. Git in the clone is told to see none of it, so that a fixer who commits everything
// it changed does not commit that.
func (b *Workspace) moveAside(ctx context.Context, o review.FixOrder, c *clone) (err error) {
	if len(b.Aside) == 0 {
		return nil
	}
	files, err := b.Repo.Files(ctx, o.From, "")
	if err != nil {
		return err
	}
	if c.aside, err = MoveAside(c.tree, b.Aside); err != nil || len(c.aside.Paths) == 0 {
		return err
	}
	return b.hide(ctx, c, slices.DeleteFunc(files, func(file string) bool { return !c.aside.holds(file) }))
}

// holds reports whether a file was moved, itself or with a folder it is in.
func (a Aside) holds(file string) bool {
	for p := file; p != "."; p = path.Dir(p) {
		if _, ok := slices.BinarySearch(a.Paths, p); ok {
			return true
		}
	}
	return false
}

// hide has the clone's git take moved files for unchanged and their new names for ignored.
func (b *Workspace) hide(ctx context.Context, c *clone, files []string) error {
	list := filepath.Join(c.out, "hidden")
	if err := os.WriteFile(list, []byte(strings.Join(files, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	info := filepath.Join(c.tree, ".git", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "exclude"), []byte(c.aside.Prefix+"*\n"), 0o600); err != nil {
		return err
	}
	// Nobody else was in the clone yet; the sandbox stands because its owner will be another user.
	return b.inClone(ctx, c, `git update-index -z --skip-worktree --stdin <"$1"`, list)
}

// restore gives what was moved aside its names back. Where the fixer made something new under such a name, that stays, for
// the policy to see. *git.TakeError when the fixer left the tree so that it cannot be done.
func (c *clone) restore() error {
	if len(c.aside.Paths) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.tree)
	if err != nil {
		return inTheWay(nil, "", err)
	}
	defer root.Close()
	for _, p := range c.aside.Paths {
		from, to := filepath.FromSlash(c.aside.moved(p)), filepath.FromSlash(p)
		if _, err := root.Lstat(to); err == nil {
			err = root.RemoveAll(from)
			if err != nil {
				return inTheWay(root, c.aside.moved(p), err)
			}
			continue
		}
		// A name that is gone, or whose folder is, shows as deleted.
		if err := root.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			return inTheWay(root, p, err)
		}
	}
	return nil
}

// diskFaults are what goes wrong in a tree whoever was in it.
var diskFaults = []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// inTheWay is an error of the tree after the fixer was in it: its own doing, and so a refusal, unless the disk is at fault.
func inTheWay(root *os.Root, p string, err error) error {
	if slices.ContainsFunc(diskFaults, func(fault error) bool { return errors.Is(err, fault) }) {
		return fmt.Errorf("restore %q: %w", p, err)
	}
	for dir := path.Dir(p); root != nil && dir != "."; dir = path.Dir(dir) {
		if info, no := root.Lstat(filepath.FromSlash(dir)); no == nil && info.Mode()&os.ModeSymlink != 0 {
			return &git.TakeError{Rule: git.TakeLink, Path: dir, Detail: "a symbolic link", Err: err}
		}
	}
	return &git.TakeError{Rule: git.TakeUnreadable, Path: p, Detail: "what was moved aside cannot be put back", Err: err}
}

// gitLimit bounds git's work in a clone, in wall time.
const gitLimit = time.Minute

// inClone runs a script with git in the clone, in the sandbox. Settings of ours outrank what the clone's configuration
// says; whatever it still makes git run has no more than the fixer had.
func (b *Workspace) inClone(ctx context.Context, c *clone, script string, args ...string) error {
	settings := [][2]string{{"safe.directory", "*"}, {"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
		{"advice.graftFileDeprecated", "false"}}
	env := []string{
		"HOME=" + c.out, "TMPDIR=" + c.out, "LC_ALL=C", "GIT_DIR=" + filepath.Join(c.tree, ".git"), "GIT_WORK_TREE=" + c.tree,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull,
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)),
	}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	out := &proc.Tail{Limit: 1 << 10}
	_, err := b.run(ctx, child{
		policy: sandbox.Policy{Home: c.out, Writable: []string{c.tree, c.out}}, script: "set -eu; " + script, args: args,
		env: proc.BaseEnv(env...), dir: c.out, limit: gitLimit, out: out, max: 1 << 20,
	})
	if err != nil {
		return fmt.Errorf("git in the clone: %w: %s", err, b.logText(out, ""))
	}
	return nil
}
