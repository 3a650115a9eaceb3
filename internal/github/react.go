package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// React adds a reaction to a timeline comment, by its number, and returns its effects.ReactionRef. It is tried once. Errors are as those of
// Post.
func (c *Client) React(ctx context.Context, pr review.PullRequest, comment int64, content string) (string, error) {
	op := fmt.Sprintf("react to a comment on %s#%d", pr.Repo, pr.Number)
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitForTurn(ctx, op); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	var a struct {
		ID      int64
		Content string
	}
	status, err := c.post(ctx, fmt.Sprintf("repos/%s/%s/issues/comments/%d/reactions", url.PathEscape(pr.Repo.Owner), url.PathEscape(pr.Repo.Name), comment), map[string]string{"content": content}, &a)
	c.lastWrite = time.Now()
	if err != nil {
		e := classify(op, err)
		return "", e.wrote(errors.Is(e, ErrUnavailable) || errors.Is(e, ErrBadAnswer))
	}
	if a.ID == 0 || a.Content != content {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub added something else", write: true, sent: true}
	}
	return effects.ReactionRef(a.ID, status == http.StatusCreated), nil
}

// post makes one REST call that writes.
func (c *Client) post(ctx context.Context, address string, body, into any) (status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.rest+address, strings.NewReader(string(text)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	c.tally.write()
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return resp.StatusCode, api.HandleHTTPError(resp)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err
	}
	return resp.StatusCode, json.Unmarshal(raw, into)
}

// Comment reads one timeline comment of a pull request, by its number. Errors: ErrNotFound, also for a comment that is on something else,
// and those of every read.
func (c *Client) Comment(ctx context.Context, pr review.PullRequest, comment int64) (review.Comment, error) {
	op := fmt.Sprintf("read a comment on %s#%d", pr.Repo, pr.Number)
	var m restComment
	if _, err := c.get(ctx, op, true, fmt.Sprintf("repos/%s/%s/issues/comments/%d", url.PathEscape(pr.Repo.Owner), url.PathEscape(pr.Repo.Name), comment), &m); err != nil {
		return review.Comment{}, err
	}
	if m.ID != comment || !c.isComment(m.HTMLURL, pr) {
		return review.Comment{}, &Error{Op: op, Kind: ErrNotFound, Detail: "it is not on this pull request"}
	}
	return m.shape(), nil
}
