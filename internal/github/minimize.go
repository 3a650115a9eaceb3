package github

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitForTurn(ctx); err != nil {
		return "", &Error{Op: op, Kind: ErrUnavailable, Cause: err, Detail: describe(err), write: true}
	}
	var a struct {
		MinimizeComment struct {
			MinimizedComment struct {
				IsMinimized bool
				ID, URL     string
			}
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	err := c.graphql.DoWithContext(ctx, minimizeMutation, map[string]any{"id": comment}, &a)
	c.lastWrite = time.Now()
	if err != nil {
		e := classify(op, err)
		e.write, e.sent = true, errors.Is(e, ErrUnavailable) || errors.Is(e, ErrBadAnswer)
		return "", e
	}
	if m := a.MinimizeComment.MinimizedComment; !m.IsMinimized || m.ID != comment || !c.isComment(m.URL, pr) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub minimised something else", write: true, sent: true}
	}
	return a.MinimizeComment.MinimizedComment.URL, nil
}
