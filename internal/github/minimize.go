package github

import (
	"context"
	"fmt"

	"github.com/prloop/prloop/review"
)

const minimizeMutation = `mutation Minimize($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) {
    minimizedComment { isMinimized ... on IssueComment { id url } }
  }
}`

// Minimize collapses a comment as outdated, and returns its URL. It is tried once. Errors are as those of Post.
func (c *Client) Minimize(ctx context.Context, pr review.PullRequest, comment string) (string, error) {
	op := fmt.Sprintf("minimise a comment on %s#%d", pr.Repo, pr.Number)
	var a struct {
		MinimizeComment struct {
			MinimizedComment struct {
				IsMinimized bool
				ID, URL     string
			}
		}
	}
	if err := c.mutate(ctx, op, minimizeMutation, map[string]any{"id": comment}, &a); err != nil {
		return "", err
	}
	if m := a.MinimizeComment.MinimizedComment; !m.IsMinimized || m.ID != comment || !c.isComment(m.URL, pr) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub minimised something else", write: true, sent: true}
	}
	return a.MinimizeComment.MinimizedComment.URL, nil
}
