package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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

// NoRemoteError: a repository was meant without its name, in a folder that belongs to none on GitHub.
type NoRemoteError struct {
	Dir string
	// Checkout says that the folder is in one; Remotes are those it has.
	Checkout bool
	Remotes  []git.Remote
	// Base is what local changes of the checkout are compared with; empty where there can be none.
	Base string
	// PullRequest says that a pull request of the repository was meant.
	PullRequest bool
}

// Error says what is missing, without the remotes' addresses, which may hold a password.
func (e *NoRemoteError) Error() string {
	name := filepath.Base(e.Dir)
	switch {
	case !e.Checkout:
		return name + " is in no git repository"
	case len(e.Remotes) == 0:
		return name + " is in a git repository that has no remote"
	}
	var names []string
	for _, r := range e.Remotes[:min(len(e.Remotes), 3)] {
		names = append(names, r.Name)
	}
	return fmt.Sprintf("%s is in a git repository without a remote on a GitHub host that gh knows (it has %s)", name, strings.Join(names, ", "))
}

// Target finds the pull request a person means.
func (s *Service) Target(ctx context.Context, w Words) (review.Target, error) {
	here, branch, err := s.here(ctx, w)
	if err != nil {
		if lost := (*NoRemoteError)(nil); errors.As(err, &lost) {
			lost.PullRequest = true
		}
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
	lost := &NoRemoteError{Dir: w.Dir}
	if c, err := g.Checkout(w.Dir); err == nil {
		lost.Checkout, lost.Base = true, c.Base(ctx)
		if branch, err = c.Branch(ctx); err != nil && !errors.Is(err, git.ErrDetached) {
			return review.Repo{}, "", err
		}
		if lost.Remotes, err = c.Remotes(ctx); err != nil {
			return review.Repo{}, "", err
		}
		for _, r := range lost.Remotes {
			remotes = append(remotes, github.Remote(r))
		}
	}
	if w.Repo != "" {
		repo, err := github.ParseRepo(w.Repo, host)
		return repo, branch, err
	}
	repo, err := github.RepoOfRemotes(remotes, github.KnownHosts(env))
	if err != nil && !github.Whole(w.Text) {
		return review.Repo{}, "", lost
	}
	if repo.Host == "" {
		repo.Host = host
	}
	return repo, branch, nil
}
