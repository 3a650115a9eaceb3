package workbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/sandbox"
)

// asidePrefix is put before the name of what is moved aside: it can be read and is not loaded (security 3, "Trust of inputs").
const asidePrefix = "moved-aside-"

// moveAside renames what the order names, at every depth. Git in the clone is told to see none of it, so that a fixer who
// commits everything it changed does not commit that.
func (b *Bench) moveAside(ctx context.Context, o Order, c *clone) error {
	if len(o.Aside) == 0 {
		return nil
	}
	files, err := b.Repo.Files(ctx, o.From, "")
	if err != nil {
		return err
	}
	var hidden []string
	for _, file := range files {
		if p := asidePath(file, o.Aside); p != "" {
			hidden = append(hidden, file)
			if !slices.Contains(c.aside, p) {
				c.aside = append(c.aside, p)
			}
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.tree)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range c.aside {
		if err := root.Rename(filepath.FromSlash(p), filepath.FromSlash(movedPath(p))); err != nil {
			return fmt.Errorf("move %q aside: %w", p, err)
		}
	}
	return b.hide(ctx, c, hidden)
}

// hide has the clone's git take moved files for unchanged and their new names for ignored.
func (b *Bench) hide(ctx context.Context, c *clone, files []string) error {
	list := filepath.Join(c.out, "hidden")
	if err := os.WriteFile(list, []byte(strings.Join(files, "\x00")+"\x00"), 0o600); err != nil {
		return err
	}
	info := filepath.Join(c.tree, ".git", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "exclude"), []byte(asidePrefix+"*\n"), 0o600); err != nil {
		return err
	}
	// Nobody else was in the clone yet; the walls stand because its owner will be another user.
	return b.inClone(ctx, c, `git update-index -z --skip-worktree --stdin <"$1"`, list)
}

// asidePath is the part of a path that has to move: up to the first name that is listed; empty when none is.
func asidePath(file string, names []string) string {
	end := 0
	for part := range strings.SplitSeq(file, "/") {
		end += len(part)
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return file[:end]
		}
		end++
	}
	return ""
}

func movedPath(p string) string { return path.Join(path.Dir(p), asidePrefix+path.Base(p)) }

// restore gives what was moved aside its names back. Where the fixer made something new under such a name, that stays, for
// the policy to see.
func (c *clone) restore() error {
	if len(c.aside) == 0 {
		return nil
	}
	root, err := os.OpenRoot(c.tree)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range c.aside {
		from, to := filepath.FromSlash(movedPath(p)), filepath.FromSlash(p)
		if _, err := root.Lstat(to); err == nil {
			err = root.RemoveAll(from)
			if err != nil {
				return fmt.Errorf("clear %q: %w", movedPath(p), err)
			}
			continue
		}
		// A name that is gone, or whose folder is, shows as deleted.
		if err := root.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("restore %q: %w", p, err)
		}
	}
	return nil
}

// gitLimit bounds git's work in a clone, in wall time.
const gitLimit = time.Minute

// inClone runs a script with git in the clone, behind the walls. Settings of ours outrank what the clone's configuration
// says; whatever it still makes git run has no more than the fixer had.
func (b *Bench) inClone(ctx context.Context, c *clone, script string, args ...string) error {
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
	out := &tail{limit: 1 << 10}
	_, err := b.run(ctx, child{
		policy: sandbox.Policy{Home: c.out, Writable: []string{c.tree}}, script: "set -eu; " + script, args: args,
		env: proc.BaseEnv(env...), dir: c.out, limit: gitLimit, out: out, max: 1 << 20,
	})
	if err != nil {
		return fmt.Errorf("git in the clone: %w: %s", err, logText(out, ""))
	}
	return nil
}
