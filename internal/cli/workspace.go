package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/review"
)

// tree is the export of the head that the tools of builtin reviewers read: made once a run, by whoever asks first.
type tree struct {
	once sync.Once
	dir  string
	err  error
}

// workspace exports the head tree into the run's scratch folder: plain files, links written as text. Nobody writes there.
func (a *asker) workspace(ctx context.Context, head string) (*review.Workspace, error) {
	a.tree.once.Do(func() {
		a.tree.dir = filepath.Join(a.scratch, "tree")
		a.tree.err = errors.Join(a.history.repo.Export(ctx, head, a.tree.dir), readable(a.tree.dir), os.Chmod(a.history.repo.Dir(), 0o755))
	})
	if a.tree.err != nil {
		return nil, fmt.Errorf("export the tree under review: %w", a.tree.err)
	}
	// Linters run what the tree configures, so they need full containment, not just the best there is (security T01).
	return &review.Workspace{Tree: a.tree.dir, GitDir: a.history.repo.Dir(), Exclude: a.exclude, Lint: a.walls.ownNetwork}, nil
}

// readable lets a confined child read a tree: started as root, prloop gives it a uid of its own. Other users of the machine
// still cannot: the state folder above is closed to them.
func readable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
}

// excluded are the patterns that no tool shows.
func excluded(s config.Settings) []string { return s.Context.Exclude }
