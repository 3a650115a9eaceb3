package github

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
)

const mergedQuery = `query MergedBy($owner: String!, $name: String!, $oid: GitObjectID!) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    object(oid: $oid) { ... on Commit { associatedPullRequests(first: 50) { nodes {
      merged baseRefName baseRepository { nameWithOwner } mergeCommit { oid } mergedBy { ` + actorFields + ` }
    } } } }
  }
}`

type mergedAnswer struct {
	Repository struct {
		NameWithOwner string
		Object        *struct {
			AssociatedPullRequests struct {
				Nodes []struct {
					Merged         bool
					BaseRefName    string
					BaseRepository *struct{ NameWithOwner string }
					MergeCommit    *struct{ OID string }
					MergedBy       *actor
				}
			}
		}
	}
}

// MergedBy is the person who made a commit of a branch by merging a pull request into it, as GitHub says. ok is false when
// it does not say so: the commit was pushed, a pull request into another branch or from before brought it, or an app merged it.
func (c *Client) MergedBy(ctx context.Context, repo review.Repo, branch, commit string) (p review.Person, ok bool, err error) {
	op := fmt.Sprintf("read who merged commit %s of %s", oneLine(commit), repo)
	var a mergedAnswer
	vars := map[string]any{"owner": repo.Owner, "name": repo.Name, "oid": commit}
	if err := c.query(ctx, op, false, mergedQuery, vars, &a); err != nil {
		return p, false, err
	}
	r := a.Repository
	if r.Object == nil {
		return p, false, nil
	}
	for _, n := range r.Object.AssociatedPullRequests.Nodes {
		if n.Merged && n.BaseRefName == branch && n.BaseRepository != nil && n.BaseRepository.NameWithOwner == r.NameWithOwner &&
			n.MergeCommit != nil && n.MergeCommit.OID == commit && n.MergedBy != nil && n.MergedBy.Typename == "User" {
			return n.MergedBy.person(""), true, nil
		}
	}
	return p, false, nil
}
