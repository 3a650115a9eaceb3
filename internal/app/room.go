package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prloop/prloop/internal/agentrun"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/wallclock"
	"github.com/prloop/prloop/review"
)

// room asks for what a run needs on the disk of a folder to begin. Where that is too little, all goes that may go, and room is asked for again: as long
// as no run begins, nothing else would take it away (threats.md T717).
func (s *Service) room(ctx context.Context, dir, run string) error {
	limits, low := s.opts.Machine.Limits, (*agentrun.LowDiskError)(nil)
	if err := limits.Room(dir); !errors.As(err, &low) {
		return err
	}
	s.sweepInTurn(ctx, filepath.Join(s.opts.State, scratchName))
	s.sweepRepos()
	s.forgetArtifacts(run)
	if err := limits.Room(dir); !errors.As(err, &low) {
		return err
	}
	s.forgetRepos(ctx, dir)
	return limits.Room(dir)
}

// forgetRepos removes repositories that no run needs, the largest first, until a run has room to begin on the disk of a folder. They are a cache of GitHub, and the
// next run fetches anew (threats.md T718).
func (s *Service) forgetRepos(ctx context.Context, dir string) {
	if !filelock.Folders { // what is in use cannot be told
		return
	}
	root := filepath.Join(s.opts.State, reposName)
	for _, name := range largestFirst(root) {
		gone, err := s.forgetRepo(ctx, root, name)
		if err != nil {
			s.log.Warn("a repository could not be removed, and the disk has too little room", "repository", name, "err", err)
		}
		if gone && s.opts.Machine.Limits.Room(dir) == nil {
			return
		}
	}
}

// largestFirst names the repositories of GitHub's hosts. Those of local changes stand at another depth: nobody else has what is in them.
func largestFirst(root string) []string {
	tree := os.DirFS(root)
	names, _ := fs.Glob(tree, "*/*/*.git") // the pattern is a good one
	sizes := map[string]int64{}
	for _, name := range names {
		_ = fs.WalkDir(tree, name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read does not count
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() {
				sizes[name] += info.Size()
			}
			return nil
		})
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	return names
}

// forgetRepo removes the repository HOST/OWNER/NAME.git, unless a process works with it, or a run that can be resumed may want what is in it alone.
func (s *Service) forgetRepo(ctx context.Context, root, name string) (gone bool, err error) {
	dir := filepath.Join(root, filepath.FromSlash(name))
	alone, err := filelock.TryFolder(dir)
	if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer alone.Close()
	part := strings.Split(strings.TrimSuffix(name, ".git"), "/")
	repo := review.Repo{Host: part[0], Owner: part[1], Name: part[2]}
	// Asked for under the lock, without which no run gets as far as to be recorded.
	unfinished, err := s.store.ListRuns(ctx, store.Filter{Repo: repo.String(), State: store.Running, Since: wallclock.Now().Add(-fixesKept), Limit: 1})
	if err != nil || len(unfinished) > 0 {
		return false, err
	}
	if err := git.Remove(dir); err != nil {
		return false, err
	}
	s.log.Info("a repository was removed, for the disk has too little room; the next run fetches it", "repository", name)
	return true, nil
}
