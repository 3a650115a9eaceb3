package running

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/prloop/prloop/internal/eval/cases"
	"github.com/prloop/prloop/internal/git"
)

// checkouts are the cases as git repositories: a commit of the base tree, one of the change on top of it, and the working tree of that.
// Each is made once.
type checkouts struct {
	cases, dir string
	mu         sync.Mutex
	made       map[string]checkout
}

type checkout struct{ dir, base, head string }

func newCheckouts(cases, dir string) *checkouts {
	return &checkouts{cases: cases, dir: dir, made: map[string]checkout{}}
}

// get gives the checkout of a case.
func (s *checkouts) get(ctx context.Context, c cases.Case) (checkout, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, there := s.made[c.ID]; there {
		return at, nil
	}
	at, err := s.make(ctx, c)
	if err != nil {
		return at, fmt.Errorf("make a repository of case %s: %w", c.ID, err)
	}
	s.made[c.ID] = at
	return at, nil
}

func (s *checkouts) make(ctx context.Context, c cases.Case) (at checkout, err error) {
	at.dir = filepath.Join(s.dir, c.ID)
	if err := os.RemoveAll(at.dir); err != nil { // what a killed run left
		return at, err
	}
	if err := os.MkdirAll(at.dir, 0o700); err != nil {
		return at, err
	}
	root, err := os.OpenRoot(at.dir)
	if err != nil {
		return at, err
	}
	defer root.Close()
	files, err := c.WriteBase(s.cases, root)
	if err != nil {
		return at, err
	}
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return at, err
	}
	repo, err := g.Open(ctx, filepath.Join(at.dir, ".git"))
	if err != nil {
		return at, err
	}
	if at.base, err = repo.CommitFiles(ctx, at.dir, files, "Base of "+c.ID+"\n"); err != nil {
		return at, err
	}
	if err := c.WriteHead(root, files); err != nil {
		return at, err
	}
	at.head, err = repo.CommitFiles(ctx, at.dir, files, "Head of "+c.ID+"\n", at.base)
	return at, err
}
