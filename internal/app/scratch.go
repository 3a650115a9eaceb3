package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/sandbox"
	"github.com/prloop/prloop/internal/wallclock"
)

// scratchName is where private folders of runs stand in the state folder: exports, homes of children, sockets, the file a
// comment is posted from. Each is locked by the process that made it, so that what a killed one left can be told from what
// is in use, and goes when the next run begins (threats.md T104).
const scratchName = "scratch"

// cleaning is where a kill has to be survived (threats.md K28).
var cleaning = failpoint.New("cleanup: half done")

// scratch makes the private folder of this process, once, and removes what dead ones left. s.mu is held.
func (s *Service) scratch(ctx context.Context) (string, error) {
	if s.private != "" {
		return s.private, nil
	}
	parent := filepath.Join(s.opts.State, scratchName)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	// Whoever sweeps or makes holds the parent: between being made and being locked a folder looks like a dead one's.
	turn, err := filelock.Folder(ctx, parent)
	if err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	defer turn.Close()
	s.sweep(parent)
	s.sweepRepos()
	dir, err := os.MkdirTemp(parent, "run-")
	if err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	held, err := filelock.TryFolder(dir)
	if err != nil {
		return "", errors.Join(fmt.Errorf("make scratch folder: %w", err), os.Remove(dir))
	}
	s.private = dir
	s.cleanup.add(func() {
		// A process that was killed just before this one began may have held its folder for a moment more.
		s.sweepInTurn(context.WithoutCancel(ctx), parent)
		if err := cleaning.Hit(); err != nil {
			s.log.Warn("a scratch folder is left to the next run", "err", err)
			return
		}
		s.removeScratch(dir)
		held.Close()
	})
	return dir, nil
}

// sweepRepos removes what killed processes left in prloop's own repositories.
func (s *Service) sweepRepos() {
	git.Sweep(filepath.Join(s.opts.State, reposName), wallclock.Now())
}

func (s *Service) removeScratch(dir string) {
	if err := sandbox.Remove(dir); err != nil {
		s.log.Warn("a scratch folder could not be removed", "err", err)
	}
}

// sweepScratch removes what killed processes left.
func (s *Service) sweepScratch(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.scratch(ctx)
	return err
}

// scratch makes the private folder of the run in that of the process, once.
func (r *run) scratch(ctx context.Context) (string, error) {
	if r.private != "" {
		return r.private, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	parent, err := r.Service.scratch(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, strconv.Itoa(r.runs)) // short: a socket has to stand in it
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	r.runs++
	r.private = dir
	r.cleanup.add(func() { r.removeScratch(dir) })
	return dir, nil
}

// sweepInTurn is sweep for those who do not hold the parent.
func (s *Service) sweepInTurn(ctx context.Context, parent string) {
	if turn, err := filelock.Folder(ctx, parent); err == nil {
		s.sweep(parent)
		turn.Close()
	}
}

// sweep removes the folders of processes that have ended.
func (s *Service) sweep(parent string) {
	if !filelock.Folders { // what is in use cannot be told from what was left, so that stays
		return
	}
	entries, err := os.ReadDir(parent)
	if err != nil {
		s.log.Warn("the scratch folder could not be read", "err", err)
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		held, err := filelock.TryFolder(dir)
		if errors.Is(err, filelock.ErrHeld) || errors.Is(err, fs.ErrNotExist) { // at work, or just done
			continue
		}
		if err == nil {
			err = sandbox.Remove(dir)
			held.Close()
		}
		if err != nil {
			s.log.Warn("a folder that a killed run left could not be removed", "err", err)
		}
	}
}
