package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// PushRight is whether prloop may push to the head branch of a pull request, as far as GitHub tells beforehand.
type PushRight struct {
	// Allowed is false when a push would surely be refused; Reason then says why, in a sentence that names no credential. An
	// app's token does not see what it may do, and rulesets are not told of to anybody: then a push has to be tried, and is
	// refused by GitHub itself if need be.
	Allowed bool
	Reason  string
}

const pushQuery = `query PushRight($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    viewerPermission
    defaultBranchRef { name }
    pullRequest(number: $number) {
      state headRefName isCrossRepository maintainerCanModify
      headRepository { isArchived viewerPermission }
      headRef { refUpdateRule { pattern viewerCanPush requiresSignatures } }
    }
  }
}`

type pushAnswer struct {
	Repository struct {
		ViewerPermission string
		DefaultBranchRef *struct{ Name string }
		PullRequest      struct {
			State, HeadRefName                     string
			IsCrossRepository, MaintainerCanModify bool
			HeadRepository                         *headRepository
			HeadRef                                *struct{ RefUpdateRule *updateRule }
		}
	}
}

type headRepository struct {
	IsArchived       bool
	ViewerPermission string
}

// updateRule is what GitHub shows of branch protection to those who do not administer the repository.
type updateRule struct {
	Pattern                           string
	ViewerCanPush, RequiresSignatures bool
}

// MayPush asks, at the moment of pushing, whether the head branch of a pull request takes a push of ours
// (threats.md "Push policy"): the pull request is open, the branch is there, we may write to its repository or edits by maintainers are
// allowed, no protection that we can see forbids it, and it is not the default branch of the base repository. The error is
// that of a read: then nothing is known.
func (c *Client) MayPush(ctx context.Context, pr review.PullRequest) (PushRight, error) {
	op := fmt.Sprintf("read whether %s#%d takes a push", pr.Repo, pr.Number)
	var a pushAnswer
	vars := map[string]any{"owner": pr.Repo.Owner, "name": pr.Repo.Name, "number": pr.Number}
	if err := c.query(ctx, op, false, pushQuery, vars, &a); err != nil {
		return PushRight{}, err
	}
	reason := a.never()
	if reason == "" {
		job, err := c.ActionsToken(ctx)
		if err != nil {
			return PushRight{}, err
		}
		reason = a.permitted(job, c.app != nil)
	}
	return PushRight{Allowed: reason == "", Reason: reason}, nil
}

// never says why nobody like us may push, whatever they are permitted.
func (a *pushAnswer) never() string {
	p := a.Repository.PullRequest
	h := p.HeadRepository
	switch {
	case p.State != "OPEN":
		return "the pull request is " + strings.ToLower(oneLine(p.State))
	case h == nil:
		return "the repository of the head branch is gone"
	case p.HeadRef == nil:
		return "the head branch is gone"
	case h.IsArchived:
		return "the repository of the head branch is archived"
	}
	if d := a.Repository.DefaultBranchRef; !p.IsCrossRepository && d != nil && d.Name == p.HeadRefName {
		return "the head branch is the repository's default branch"
	}
	if r := p.HeadRef.RefUpdateRule; r != nil {
		switch {
		case !r.ViewerCanPush:
			return fmt.Sprintf("the branch is protected by the rule %q", oneLine(r.Pattern))
		case r.RequiresSignatures:
			return fmt.Sprintf("the rule %q of the branch wants signed commits", oneLine(r.Pattern))
		}
	}
	return ""
}

// permitted says why our permissions do not suffice; empty when they do, or are not shown. job is true for the token of an
// Actions job, and app for that of an App: they reach their own repository alone.
func (a *pushAnswer) permitted(job, app bool) string {
	p := a.Repository.PullRequest
	own, base := p.HeadRepository.ViewerPermission, a.Repository.ViewerPermission
	switch {
	case mayWrite(own), !p.IsCrossRepository && own == "":
		return ""
	case !p.IsCrossRepository:
		return "the credential may not write to the repository"
	case job:
		return "the job's own token reaches no fork"
	case app:
		return "the GitHub App's token reaches no fork"
	case !p.MaintainerCanModify:
		return "the fork does not allow edits by maintainers"
	case mayWrite(base), base == "":
		return ""
	}
	return "the credential may not write to the base repository, as edits of a fork by maintainers need"
}

func mayWrite(permission string) bool {
	return permission == "ADMIN" || permission == "MAINTAIN" || permission == "WRITE"
}

// jobLogin is whom an Actions job's own token belongs to.
const jobLogin = "github-actions[bot]"

// ActionsToken reports whether the credential is GITHUB_TOKEN, the own token of an Actions job. Pushes made with it start
// no workflow (decision 14). Installation tokens of other apps look the same, so GitHub is asked whose it is.
func (c *Client) ActionsToken(ctx context.Context) (bool, error) {
	if c.app != nil || !c.minted {
		return false, nil
	}
	v, err := c.Viewer(ctx, c.host)
	return v.Login == jobLogin, err
}
