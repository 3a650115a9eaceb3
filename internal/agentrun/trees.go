package agentrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
)

// workspaceMade is where a kill has to be survived (threats.md K06).
var workspaceMade = failpoint.New("workspace: made")

// trees are exports of heads that tools read, each made once a run by whoever asks first: every round has a head of its own.
type trees struct {
	mu   sync.Mutex
	made map[string]*tree
}

// tree is one export.
type tree struct {
	once sync.Once
	dir  string
	err  error
}

// get makes the export of a head, or gives the one that was made.
func (t *trees) get(head, dir string, export func(dir string) error) (string, error) {
	t.mu.Lock()
	if t.made == nil {
		t.made = map[string]*tree{}
	}
	one := t.made[head]
	if one == nil {
		one = &tree{dir: dir}
		t.made[head] = one
	}
	t.mu.Unlock()
	one.once.Do(func() { one.err = errors.Join(export(one.dir), workspaceMade.Hit()) })
	if one.err != nil {
		return "", fmt.Errorf("export the tree under review: %w", one.err)
	}
	return one.dir, nil
}

// workspace exports a head tree into the run's scratch folder: plain files, links written as text. Nobody writes there.
func (c *Launcher) workspace(ctx context.Context, head string) (*review.Workspace, error) {
	dir, err := c.trees.get(head, filepath.Join(c.Scratch, "tree-"+head), func(dir string) error {
		return errors.Join(c.Repo.Export(ctx, head, dir), readable(dir), os.Chmod(c.Repo.Dir(), 0o755))
	})
	if err != nil {
		return nil, err
	}
	// Linters run what the tree configures, so they need full containment, not just the best there is (threats.md T01). They read what the
	// agent's tools can, so there are none where something is withheld (threats.md T317).
	return &review.Workspace{Tree: dir, GitDir: c.Repo.Dir(), Exclude: c.Exclude, Lint: c.Confinement.full && !c.Withholds, Unmasked: c.ShowSecrets, Masked: c.masked()}, nil
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
