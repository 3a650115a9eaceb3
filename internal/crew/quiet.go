package crew

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prloop/prloop/internal/acp"
)

// quietTree exports the head without what nobody may read and with the configuration of agents moved aside at every depth.
func (c *Crew) quietTree(ctx context.Context, head string) (string, error) {
	return c.quiet.get(head, filepath.Join(c.Scratch, "quiet-"+head), func(dir string) error {
		if err := c.Repo.Export(ctx, head, dir); err != nil {
			return err
		}
		return errors.Join(leaveOut(dir, c.Exclude), moveAside(dir, agentConfiguration()), readable(dir))
	})
}

// aside is put before the name of what an agent would take configuration from: it can be read and is not loaded (security 3,
// "Trust of inputs").
const aside = "moved-aside-"

// leaveOut removes what nothing may read (repo policy): an agent reads with tools of its own too.
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

// moveAside renames files and folders of the names given, wherever they are; case does not matter, as it does not on disks
// an agent may be made for.
func moveAside(dir string, names []string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, d.Name()) }) {
			return nil
		}
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), aside+d.Name())); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
