package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/prloop/prloop/internal/config"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// Rules are the repository's configuration for one run: of the working tree for a local range, of the base commit for a pull
// request (decision 28).
type Rules struct {
	// File is nil when there is none.
	File *config.File
	// Top is the root of the working tree of a local range; empty otherwise.
	Top string
	// Policy is the row of a pull request's repository; nil when there is none.
	Policy *policy.Row
	// From says in words where the configuration is from.
	From string
	// Notes name what a person may have expected to count, and does not.
	Notes []string
}

// treeRules reads the rules of a local range as they stand in the working tree, committed or not. dir is the folder the
// person is in.
func treeRules(top, dir string) (Rules, error) {
	r := Rules{Top: top, From: ".reviewerc of the working tree"}
	var err error
	if r.File, err = config.ReadTree(top); err != nil {
		return r, err
	}
	if r.File == nil {
		r.From = "no .reviewerc in the working tree"
	}
	for _, name := range config.Lookalikes() {
		if present(filepath.Join(top, name)) {
			r.Notes = append(r.Notes, unread(name))
		}
	}
	for at := dir; at != top && strings.HasPrefix(at, top); at = filepath.Dir(at) {
		if name := filepath.Join(at, config.RepositoryFile); present(name) {
			if rel, err := filepath.Rel(top, name); err == nil {
				name = filepath.ToSlash(rel)
			}
			r.Notes = append(r.Notes, name+" is not read: only the .reviewerc at the root of the repository is")
		}
	}
	return r, nil
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func unread(name string) string {
	return name + " is not read: the file is called " + config.RepositoryFile
}

// RulesIn are those of a local range in a folder; none outside a checkout, where there can be no such range.
func RulesIn(ctx context.Context, dir string) (Rules, error) {
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return Rules{}, err
	}
	c, err := g.Checkout(dir)
	if errors.Is(err, git.ErrNotRepository) {
		r := Rules{From: "no .reviewerc, because this folder is in no checkout"}
		if present(filepath.Join(dir, config.RepositoryFile)) {
			r.Notes = []string{".reviewerc here is not read: this folder is in no checkout"}
		}
		return r, nil
	}
	if err != nil {
		return Rules{}, err
	}
	r, err := treeRules(c.Top, dir)
	if err != nil {
		return r, err
	}
	notes, err := idle(r.File, "of this checkout", func() ([]string, error) { return c.Tracked(ctx) })
	r.Notes = append(r.Notes, notes...)
	return r, err
}

// idle names the patterns of a .reviewerc that match no file where it stands, and variables that do not exist: probably somebody misspelt them.
func idle(file *config.File, where string, paths func() ([]string, error)) (notes []string, err error) {
	if file == nil {
		return nil, nil
	}
	faults, err := config.Idle(*file, paths)
	for _, f := range faults {
		f.Excerpt = ""
		notes = append(notes, f.String()+" "+where)
	}
	for _, f := range config.Misspelt(*file) {
		notes = append(notes, f.String())
	}
	return notes, err
}

// baseRules reads the rules of a pull request at its base commit: it cannot change what it is judged by. Where it tries to, or
// where the checkout the person is in has other rules, a note says which count.
func (s *Service) baseRules(ctx context.Context, dir string, h *history, pr review.PullRequest, at orchestrator.Range) (Rules, error) {
	file, err := rulesAt(ctx, h.repo, at.Base)
	if err != nil {
		return Rules{}, err
	}
	r := Rules{File: file, From: ".reviewerc at the base commit"}
	base := fmt.Sprintf("%s (%s)", pr.BaseRef, at.Base[:min(len(at.Base), 10)])
	if file == nil {
		r.From = "no .reviewerc at the base commit"
		if r.Notes, err = lookalikesAt(ctx, h.repo, at.Base, base); err != nil {
			return r, err
		}
	}
	notes, err := idle(file, "of "+base, func() ([]string, error) { return h.repo.Files(ctx, at.Base, "") })
	if err != nil {
		return r, err
	}
	r.Notes = append(r.Notes, notes...)
	changed, err := changesRules(ctx, h.repo, at)
	if err != nil {
		return r, err
	}
	if changed {
		r.From += "; the pull request changes it, which counts once it is merged"
	}
	if err := s.withPolicy(ctx, &r, pr.Repo, pr.RepoID); err != nil {
		return r, err
	}
	if note := s.whichRules(ctx, dir, pr.Repo, file, base, changed); note != "" {
		r.Notes = append(r.Notes, note)
	}
	return r, nil
}

// whichRules says that the base's rules are used where a person may expect others; empty where nobody does. changed is true
// for a pull request that changes them.
func (s *Service) whichRules(ctx context.Context, dir string, repo review.Repo, file *config.File, base string, changed bool) string {
	const why = "a pull request cannot change the rules it is judged by"
	here, in := s.rulesBeside(ctx, dir, repo)
	switch {
	case changed && file == nil:
		return fmt.Sprintf("this pull request adds .reviewerc, which is not used: %s has none, and %s", base, why)
	case changed:
		return fmt.Sprintf("this pull request changes .reviewerc; the one at %s is used: %s", base, why)
	case !in || sameRules(here, file):
		return ""
	case here == nil:
		return fmt.Sprintf("there is no .reviewerc here; the one at %s is used", base)
	case file == nil:
		return fmt.Sprintf(".reviewerc here is not used: %s has none, and %s", base, why)
	}
	return fmt.Sprintf(".reviewerc here differs from the one at %s, which is used: %s", base, why)
}

// rulesAt reads `.reviewerc` at a commit; nil when there is none.
func rulesAt(ctx context.Context, repo *git.Repository, commit string) (*config.File, error) {
	data, err := repo.ReadFile(ctx, commit, config.RepositoryFile, fileLimitBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, git.ErrTooLarge):
		return nil, config.TooLarge()
	case err != nil:
		return nil, fmt.Errorf("read %s at the base commit: %w", config.RepositoryFile, err)
	}
	return &config.File{Name: config.RepositoryFile, Data: data}, nil
}

func lookalikesAt(ctx context.Context, repo *git.Repository, commit, base string) ([]string, error) {
	files, err := repo.ReadFiles(ctx, commit, config.Lookalikes(), fileLimitBytes)
	if err != nil {
		return nil, fmt.Errorf("look for %s at the base commit: %w", config.RepositoryFile, err)
	}
	var notes []string
	for _, name := range config.Lookalikes() {
		if _, there := files[name]; there {
			notes = append(notes, unread(name)+"; "+base+" has none")
		}
	}
	return notes, nil
}

// changesRules reports whether a pull request's own commits change `.reviewerc`.
func changesRules(ctx context.Context, repo *git.Repository, at orchestrator.Range) (bool, error) {
	before, err := rulesAt(ctx, repo, at.MergeBase)
	if err != nil && !errors.As(err, new(*config.Error)) {
		return false, err
	}
	after, wrong := rulesAt(ctx, repo, at.Head)
	if wrong != nil && !errors.As(wrong, new(*config.Error)) {
		return false, wrong
	}
	return (err == nil) != (wrong == nil) || !sameRules(before, after), nil
}

func sameRules(a, b *config.File) bool {
	return (a == nil) == (b == nil) && (a == nil || bytes.Equal(a.Data, b.Data))
}

// rulesBeside are those of the checkout at dir, where the person is, if it is one of the pull request's repository. A file that cannot be
// read is one that differs from every other.
func (s *Service) rulesBeside(ctx context.Context, dir string, repo review.Repo) (file *config.File, in bool) {
	g, err := s.findGit(ctx)
	if err != nil || dir == "" {
		return nil, false
	}
	c, err := g.Checkout(dir)
	if err != nil {
		return nil, false
	}
	remotes, err := c.Remotes(ctx)
	if err != nil {
		return nil, false
	}
	for _, remote := range remotes {
		if of, ok := github.RepoOfURL(remote.URL); !ok || !strings.EqualFold(of.String(), repo.String()) {
			continue
		}
		if file, err = config.ReadTree(c.Top); err != nil {
			file = &config.File{Name: config.RepositoryFile}
		}
		return file, true
	}
	return nil, false
}
