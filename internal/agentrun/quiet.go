package agentrun

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/acp"
	"github.com/prloop/prloop/internal/fixspace"
	"github.com/prloop/prloop/internal/globs"
)

// quietTree exports the head without what nobody may read and with the configuration of agents moved aside at every depth.
func (c *Launcher) quietTree(ctx context.Context, head string) (string, error) {
	return c.quiet.get(head, filepath.Join(c.Scratch, "quiet-"+head), func(dir string) error {
		if err := c.Repo.Export(ctx, head, dir); err != nil {
			return err
		}
		if err := leaveOut(dir, c.Exclude); err != nil {
			return err
		}
		_, err := fixspace.MoveAside(dir, agentConfiguration())
		if err == nil && !c.ShowSecrets {
			err = maskTree(dir, c.Learned)
		}
		return errors.Join(err, readable(dir))
	})
}

// excludes reports whether agents may not read a file of a commit, itself or with a folder it is in.
func (c *Launcher) excludes(name string) bool {
	for p := name; p != "." && p != "/"; p = path.Dir(p) {
		if globs.Any(c.Exclude, p) {
			return true
		}
	}
	return false
}

// leaveOut removes what nothing may read (spec.md G1): an agent reads with tools of its own too.
func leaveOut(dir string, patterns []string) error {
	paths, err := matching(dir, patterns)
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// matching are the paths of a tree that one of the patterns matches, of a folder only the folder; git's own is passed over.
// The patterns were checked with the settings.
func matching(dir string, patterns []string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || !slices.ContainsFunc(patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, filepath.ToSlash(rel)) }) {
			return err
		}
		paths = append(paths, path)
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return paths, err
}

// agentConfiguration are the names any known agent takes configuration from.
func agentConfiguration() []string {
	var names []string
	for _, p := range acp.Presets() {
		names = append(names, p.Loads...)
	}
	return names
}
