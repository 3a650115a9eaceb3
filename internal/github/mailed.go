package github

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
)

const mailedQuery = `query Mailed($id: ID!) {
  node(id: $id) { ... on IssueComment { createdViaEmail } }
}`

// Mailed reports whether a timeline comment, by its node id, is an answer to a mail: REST does not say. Errors: ErrNotFound when it is gone, and those of every read.
func (c *Client) Mailed(ctx context.Context, repo review.Repo, comment string) (bool, error) {
	op := fmt.Sprintf("read how a comment in %s was made", repo)
	var a struct {
		Node struct{ CreatedViaEmail *bool }
	}
	if err := c.query(ctx, op, true, mailedQuery, map[string]any{"id": comment}, &a); err != nil {
		return false, err
	}
	if a.Node.CreatedViaEmail == nil {
		return false, &Error{Op: op, Kind: ErrNotFound, Detail: "it is no comment"}
	}
	return *a.Node.CreatedViaEmail, nil
}
