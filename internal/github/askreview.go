package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// asking is how REST has the requested reviewers of a pull request.
func asking(pr review.PullRequest) string { return restPath(pr, "pulls") + "/requested_reviewers" }

// Requested are the logins of those who were asked to review a pull request and have not, and teams as org/team.
func (c *Client) Requested(ctx context.Context, pr review.PullRequest) ([]string, error) {
	var a struct {
		Users []struct{ Login string }
		Teams []struct{ Slug string }
	}
	if _, err := c.get(ctx, fmt.Sprintf("read who is asked to review %s#%d", pr.Repo, pr.Number), true, asking(pr), &a); err != nil {
		return nil, err
	}
	var out []string
	for _, u := range a.Users {
		out = append(out, u.Login)
	}
	for _, t := range a.Teams {
		out = append(out, pr.Repo.Owner+"/"+t.Slug)
	}
	return out, nil
}

// RequestReview asks people to review a pull request and returns its URL. It is tried once. Errors are as those of Post.
func (c *Client) RequestReview(ctx context.Context, pr review.PullRequest, users, teams []string) (string, error) {
	op := fmt.Sprintf("ask for reviews of %s#%d", pr.Repo, pr.Number)
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitToCreate(ctx, op); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	in := struct {
		Reviewers []string `json:"reviewers,omitempty"`
		Teams     []string `json:"team_reviewers,omitempty"`
	}{users, teams}
	var a struct {
		Number  int
		HTMLURL string `json:"html_url"`
	}
	_, err := c.post(ctx, asking(pr), in, &a)
	c.lastWrite = time.Now()
	if err != nil {
		e := classify(op, err)
		return "", e.wrote(errors.Is(e, ErrUnavailable) || errors.Is(e, ErrBadAnswer))
	}
	if a.Number != pr.Number || !strings.HasPrefix(a.HTMLURL, "https://") {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub answered for something else", write: true, sent: true}
	}
	return a.HTMLURL, nil
}
