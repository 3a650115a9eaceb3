package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/prloop/prloop/internal/app"
	"github.com/prloop/prloop/internal/git"
	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/review"
)

// target finds what a person means: a local range, or a pull request.
func (p *Proc) target(ctx context.Context, s *app.Service, o runOptions) (review.Target, error) {
	if o.base != "" {
		return review.Target{Base: o.base}, nil
	}
	here, branch, err := p.here(ctx, o)
	if err != nil {
		return review.Target{}, err
	}
	if o.target != "" {
		return github.ParseTarget(o.target, here)
	}
	if branch == "" {
		return review.Target{}, usage("name one: prloop run 123", "no pull request was named, and this folder is on no branch")
	}
	c, err := s.GitHub(ctx, here.Host)
	if err != nil {
		return review.Target{}, err
	}
	n, err := c.PullRequestOfBranch(ctx, here, "", branch)
	return review.Target{Repo: here, PR: n}, err
}

// here is the repository named by -R, GH_REPO or the checkout's remotes, and the current branch. Neither is needed when a
// full address is given, so being outside a repository is not an error yet.
func (p *Proc) here(ctx context.Context, o runOptions) (review.Repo, string, error) {
	host := github.DefaultHost(p.Env)
	named := o.repo
	if named == "" {
		named = p.env("GH_REPO")
	}
	var branch string
	var remotes []github.Remote
	g, err := git.Find(ctx, git.Options{})
	if err != nil {
		return review.Repo{}, "", err
	}
	if c, err := g.Checkout(p.Dir); err == nil {
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
	if named != "" {
		repo, err := github.ParseRepo(named, host)
		return repo, branch, err
	}
	repo, err := github.RepoOfRemotes(remotes, github.KnownHosts(p.Env))
	if err != nil && (o.target == "" || isNumber(o.target)) {
		if len(remotes) == 0 {
			return review.Repo{}, "", usage("use -R OWNER/REPO, give the pull request's URL, or go to a checkout", "%s is not in a checkout of a GitHub repository", filepath.Base(p.Dir))
		}
		return review.Repo{}, "", err
	}
	if repo.Host == "" {
		repo.Host = host
	}
	return repo, branch, nil
}
