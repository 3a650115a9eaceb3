package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Where a kill may fall (threats.md K72, K73).
var (
	beforeEdit = failpoint.New("github: before editing a comment")
	afterEdit  = failpoint.New("github: after editing a comment")
)

// EditComment gives a timeline comment another body, by its number, and returns its URL. It is tried once. Errors are as those of Post.
func (c *Client) EditComment(ctx context.Context, pr review.PullRequest, comment int64, body sanitize.Text) (string, error) {
	op := fmt.Sprintf("edit a comment on %s#%d", pr.Repo, pr.Number)
	refused := func(kind, cause error) error {
		return &Error{Op: op, Kind: kind, Cause: cause, Detail: describe(cause), write: true}
	}
	if body.String() == "" {
		return "", refused(ErrForbidden, errors.New("the body is empty: it did not come through the sanitizer"))
	}
	text, err := json.Marshal(map[string]string{"body": body.String()})
	if err != nil {
		return "", refused(ErrBadAnswer, err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitToCreate(ctx, op); err != nil {
		return "", err
	}
	if err := beforeEdit.Hit(); err != nil {
		return "", refused(ErrUnavailable, err)
	}
	var made struct {
		URL string `json:"html_url"`
	}
	err = c.send(ctx, http.MethodPatch, repoAddress(pr.Repo, fmt.Sprintf("/issues/comments/%d", comment)), text, &made)
	c.lastWrite = time.Now()
	if stop := afterEdit.Hit(); stop != nil { // as if the answer had been lost
		return "", &Error{Op: op, Kind: ErrUnavailable, Cause: stop, Detail: describe(stop), write: true, sent: true}
	}
	if err != nil {
		e := classify(op, err)
		e.write, e.sent = true, e.status < 300 || e.status >= 500 // without a status the answer was lost, or could not be read
		return "", e
	}
	if !c.isComment(made.URL, pr) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub edited something else: " + oneLine(made.URL), write: true, sent: true}
	}
	return made.URL, nil
}
