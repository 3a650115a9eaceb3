package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/review"
)

// Words are how a person names a pull request.
type Words struct {
	// Text is a number, a URL, OWNER/REPO#NUMBER, BRANCH or OWNER:BRANCH, or empty for the branch checked out at Dir.
	Text string
	// Repo is [HOST/]OWNER/REPO; empty for the one that the remotes of the checkout at Dir name.
	Repo string
	Dir  string
}

// ErrNotNamed: no pull request was named, and no branch is checked out that could have one.
var ErrNotNamed = errors.New("no pull request was named, and this folder is on no branch")

// NoRemoteError: a pull request was named by less than its address, in a folder that belongs to no repository on GitHub.
type NoRemoteError struct{ Dir string }

func (e *NoRemoteError) Error() string {
	return fmt.Sprintf("%s is not in a checkout of a GitHub repository", filepath.Base(e.Dir))
}

// Target finds the pull request a person means.
func (s *Service) Target(ctx context.Context, w Words) (review.Target, error) {
	here, branch, err := s.here(ctx, w)
	if err != nil {
		return review.Target{}, err
	}
	var owner string
	if w.Text != "" {
		var ok bool
		if owner, branch, ok = github.ParseBranch(w.Text); !ok {
			return github.ParseTarget(w.Text, here)
		}
	}
	if branch == "" {
		return review.Target{}, ErrNotNamed
	}
	c, err := s.GitHubFor(ctx, here)
	if err != nil {
		return review.Target{}, err
	}
	n, err := c.PullRequestOfBranch(ctx, here, owner, branch)
	return review.Target{Repo: here, PR: n}, err
}

// here is the named repository or that of the checkout's remotes, and the current branch. Neither is needed when a full address
// is given, so being outside a repository is not an error yet.
func (s *Service) here(ctx context.Context, w Words) (review.Repo, string, error) {
	env := s.opts.GitHub.Env
	host := github.DefaultHost(env)
	var branch string
	var remotes []github.Remote
	g, err := s.findGit(ctx)
	if err != nil {
		return review.Repo{}, "", err
	}
	if c, err := g.Checkout(w.Dir); err == nil {
		if branch, err = c.Branch(ctx); err != nil && !errors.Is(err, git.ErrDetached) {
			return review.Repo{}, "", err
		}
		list, err := c.Remotes(ctx)
		if err != nil {
			return review.Repo{}, "", err
		}
		for _, r := range list {
			remotes = append(remotes, github.Remote(r))
		}
	}
	if w.Repo != "" {
		repo, err := github.ParseRepo(w.Repo, host)
		return repo, branch, err
	}
	repo, err := github.RepoOfRemotes(remotes, github.KnownHosts(env))
	if err != nil && !github.Whole(w.Text) {
		if len(remotes) == 0 {
			return review.Repo{}, "", &NoRemoteError{w.Dir}
		}
		return review.Repo{}, "", err
	}
	if repo.Host == "" {
		repo.Host = host
	}
	return repo, branch, nil
}
