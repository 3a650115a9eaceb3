package github

import (
	"bytes"
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
	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Where a kill may fall (threats.md K13, K14).
var (
	beforeReview = failpoint.New("github: before review")
	afterReview  = failpoint.New("github: after review")
	beforeReply  = failpoint.New("github: before reply")
	afterReply   = failpoint.New("github: after reply")
)

// right is the side of a diff that shows the head version.
const right = "RIGHT"

type lineComment struct {
	Path      string `json:"path"`
	Body      string `json:"body"`
	Line      int    `json:"line"`
	Side      string `json:"side"`
	StartLine int    `json:"start_line,omitempty"`
	StartSide string `json:"start_side,omitempty"`
}

// Review submits one review that only comments, with its comments on lines, and returns its URL. It is tried once. Errors are as
// those of Post, and ErrPendingReview and effects.ErrMisplaced; after these nothing is there.
func (c *Client) Review(ctx context.Context, pr review.PullRequest, commit string, body sanitize.Text, comments []effects.LineComment) (string, error) {
	in := struct {
		CommitID string        `json:"commit_id"`
		Body     string        `json:"body"`
		Event    string        `json:"event"`
		Comments []lineComment `json:"comments"`
	}{commit, body.String(), "COMMENT", []lineComment{}}
	for _, m := range comments {
		one := lineComment{Path: m.Path, Body: m.Body.String(), Line: m.Line, Side: right}
		if m.Start > 0 {
			one.StartLine, one.StartSide = m.Start, right
		}
		in.Comments = append(in.Comments, one)
	}
	return c.create(ctx, fmt.Sprintf("review %s#%d", pr.Repo, pr.Number), pr, restPath(pr, "pulls")+"/reviews", in, beforeReview, afterReview)
}

// Reviews lists the reviews of a pull request, oldest first, all pages, each once.
func (c *Client) Reviews(ctx context.Context, pr review.PullRequest) ([]review.Comment, error) {
	return c.list(ctx, fmt.Sprintf("read the reviews of %s#%d", pr.Repo, pr.Number), restPath(pr, "pulls")+"/reviews", url.Values{}, pr.Author)
}

// Reply answers in the thread whose first comment has the number given, and returns the URL of the answer. It is tried once. Errors
// are as those of Post.
func (c *Client) Reply(ctx context.Context, pr review.PullRequest, first int64, body sanitize.Text) (string, error) {
	return c.create(ctx, fmt.Sprintf("reply in a thread of %s#%d", pr.Repo, pr.Number), pr, fmt.Sprintf("%s/comments/%d/replies", restPath(pr, "pulls"), first),
		struct {
			Body string `json:"body"`
		}{body.String()}, beforeReply, afterReply)
}

// ThreadCommentsSince lists the comments of all threads updated at or after a time by GitHub's clock, as CommentsSince does those of
// the timeline.
func (c *Client) ThreadCommentsSince(ctx context.Context, pr review.PullRequest, since time.Time) ([]review.Comment, error) {
	return c.list(ctx, fmt.Sprintf("read new comments in the threads of %s#%d", pr.Repo, pr.Number), restPath(pr, "pulls")+"/comments", sinceQuery(since), pr.Author)
}

// create makes one thing on a pull request through REST and returns its URL.
func (c *Client) create(ctx context.Context, op string, pr review.PullRequest, address string, in any, before, after *failpoint.Point) (string, error) {
	fail := func(e *Error) (string, error) {
		e.Op, e.write = op, true
		return "", e
	}
	body, err := json.Marshal(in)
	if err != nil {
		return fail(&Error{Kind: ErrBadAnswer, Cause: err, Detail: describe(err)})
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitToCreate(ctx, op); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.rest+address, bytes.NewReader(body))
	if err != nil {
		return fail(&Error{Kind: ErrBadAnswer, Cause: err, Detail: describe(err)})
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	if err := before.Hit(); err != nil {
		return fail(&Error{Kind: ErrUnavailable, Cause: err, Detail: describe(err)})
	}
	made, err := c.made(req)
	c.lastWrite = time.Now()
	if stop := after.Hit(); stop != nil { // as if the answer had been lost: it may be there
		return fail(&Error{Kind: ErrUnavailable, Cause: stop, Detail: describe(stop), sent: true})
	}
	if err != nil {
		e := classify(op, err)
		return "", e.wrote(errors.Is(e, ErrUnavailable) || errors.Is(e, ErrBadAnswer) && e.status < http.StatusBadRequest)
	}
	if !c.onPull(made, pr) {
		return fail(&Error{Kind: ErrBadAnswer, Detail: "GitHub made something else: " + oneLine(made), sent: true})
	}
	return made, nil
}

// made sends the one request of a write and gives the URL of what it made.
func (c *Client) made(req *http.Request) (string, error) {
	c.tally.write()
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return "", api.HandleHTTPError(resp)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var out struct {
		HTMLURL string `json:"html_url"`
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadAnswer, err)
	}
	return out.HTMLURL, nil
}

var reviewAnchor = lazyregexp.New(`^(?:discussion_r|pullrequestreview-)\d+$`)

// onPull checks that an address is that of a review of this pull request, or of a comment in one of its threads.
func (c *Client) onPull(address string, pr review.PullRequest) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && strings.EqualFold(u.Host, c.host) && reviewAnchor.MatchString(u.Fragment) &&
		strings.EqualFold(u.Path, fmt.Sprintf("/%s/%s/pull/%d", pr.Repo.Owner, pr.Repo.Name, pr.Number))
}

const (
	threadFields      = `thread { id isResolved comments(first: 1) { nodes { url } } }`
	resolveMutation   = `mutation ResolveThread($id: ID!) { done: resolveReviewThread(input: {threadId: $id}) { ` + threadFields + ` } }`
	unresolveMutation = `mutation UnresolveThread($id: ID!) { done: unresolveReviewThread(input: {threadId: $id}) { ` + threadFields + ` } }`
)

// Resolve marks a thread as resolved and returns the URL of its first comment. It is tried once. Errors are as those of Post.
func (c *Client) Resolve(ctx context.Context, pr review.PullRequest, thread string) (string, error) {
	return c.settle(ctx, "resolve", pr, thread, resolveMutation, true)
}

// Unresolve opens a thread again and returns the URL of its first comment. It is tried once. Errors are as those of Post.
func (c *Client) Unresolve(ctx context.Context, pr review.PullRequest, thread string) (string, error) {
	return c.settle(ctx, "open again", pr, thread, unresolveMutation, false)
}

func (c *Client) settle(ctx context.Context, what string, pr review.PullRequest, thread, mutation string, resolved bool) (string, error) {
	var a struct {
		Done struct {
			Thread struct {
				ID         string
				IsResolved bool
				Comments   struct{ Nodes []struct{ URL string } }
			}
		}
	}
	op := fmt.Sprintf("%s a thread of %s#%d", what, pr.Repo, pr.Number)
	if err := c.mutate(ctx, op, mutation, map[string]any{"id": thread}, &a); err != nil {
		return "", err
	}
	t := a.Done.Thread
	if t.IsResolved != resolved || t.ID != thread || len(t.Comments.Nodes) == 0 || !c.onPull(t.Comments.Nodes[0].URL, pr) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub answered for something else", write: true, sent: true}
	}
	return t.Comments.Nodes[0].URL, nil
}

// mutate makes one write through GraphQL. It is tried once.
func (c *Client) mutate(ctx context.Context, op, mutation string, vars map[string]any, into any) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitForTurn(ctx, op); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	c.tally.write()
	err := c.graphql.DoWithContext(ctx, mutation, vars, into)
	c.lastWrite = time.Now()
	if err != nil {
		e := classify(op, err)
		c.heed(e)
		return e.wrote(errors.Is(e, ErrUnavailable) || errors.Is(e, ErrBadAnswer))
	}
	return nil
}
