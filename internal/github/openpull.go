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

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Where a kill may fall (threats.md "Fault matrix").
var (
	beforePull = failpoint.New("github: before pull request")
	afterPull  = failpoint.New("github: after pull request")
)

// Default is a repository's branch that pull requests go to.
type Default struct {
	Branch string
	// Repo is the repository as GitHub spells its name, RepoID GitHub's number of it.
	Repo   review.Repo
	RepoID int64
}

// DefaultBranch finds the branch that pull requests of a repository go to.
func (c *Client) DefaultBranch(ctx context.Context, repo review.Repo) (Default, error) {
	op := "read the default branch of " + repo.String()
	var a struct {
		ID            int64
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	}
	if _, err := c.get(ctx, op, false, repoAddress(repo, ""), &a); err != nil {
		return Default{}, err
	}
	spelled, err := spelledBy(op, repo, a.FullName)
	if err != nil {
		return Default{}, err
	}
	if a.DefaultBranch == "" {
		return Default{}, &Error{Op: op, Kind: ErrBadAnswer, Detail: "the repository has none"}
	}
	return Default{a.DefaultBranch, spelled, a.ID}, nil
}

func repoAddress(repo review.Repo, rest string) string {
	return "repos/" + url.PathEscape(repo.Owner) + "/" + url.PathEscape(repo.Name) + rest
}

// restPull is a pull request as REST shows it.
type restPull struct {
	Number     int
	URL        string `json:"html_url"`
	Title      string
	Body       string
	State      string
	User       *restUser
	Base, Head restEnd
}

type restEnd struct {
	Ref, SHA string
	Repo     *struct {
		ID       int64
		FullName string `json:"full_name"`
	}
}

// PullsOfBranch lists the open pull requests of a branch of the repository itself, whoever opened them.
func (c *Client) PullsOfBranch(ctx context.Context, repo review.Repo, branch string) ([]review.PullRequest, error) {
	op := fmt.Sprintf("list the pull requests of branch %q in %s", branch, repo)
	query := url.Values{"state": {"open"}, "head": {repo.Owner + ":" + branch}}
	var found []review.PullRequest
	seen := map[int]bool{}
	err := eachOf(ctx, c, op, false, repoAddress(repo, "/pulls"), query, mostPulls, func(p restPull) error {
		if !seen[p.Number] && p.Head.Ref == branch && p.Head.Repo != nil && strings.EqualFold(p.Head.Repo.FullName, repo.Owner+"/"+repo.Name) { // else it is a fork's
			seen[p.Number] = true
			found = append(found, review.PullRequest{
				Repo: review.Repo{Host: c.host, Owner: repo.Owner, Name: repo.Name}, Number: p.Number, URL: p.URL, Title: p.Title, Body: p.Body, Author: p.User.person(""),
				State: strings.ToUpper(p.State), BaseRef: p.Base.Ref, BaseSHA: p.Base.SHA, HeadRef: p.Head.Ref, HeadSHA: p.Head.SHA,
			})
		}
		return nil
	})
	return found, err
}

// OpenPull opens a pull request between two branches of a repository and returns its URL. It is tried once. Errors are as those of
// Post.
func (c *Client) OpenPull(ctx context.Context, repo review.Repo, head, base, title string, body sanitize.Text) (string, error) {
	op := fmt.Sprintf("open a pull request in %s", repo)
	in := map[string]string{"head": head, "base": base, "title": title, "body": body.String()}
	return c.writePull(ctx, op, repo, http.MethodPost, repoAddress(repo, "/pulls"), in)
}

// EditPull gives a pull request another title and body and returns its URL. It is tried once. Errors are as those of Post.
func (c *Client) EditPull(ctx context.Context, pr review.PullRequest, title string, body sanitize.Text) (string, error) {
	op := fmt.Sprintf("change %s#%d", pr.Repo, pr.Number)
	in := map[string]string{"title": title, "body": body.String()}
	return c.writePull(ctx, op, pr.Repo, http.MethodPatch, repoAddress(pr.Repo, fmt.Sprintf("/pulls/%d", pr.Number)), in)
}

// writePull makes the one request and reads the pull request out of its answer.
func (c *Client) writePull(ctx context.Context, op string, repo review.Repo, method, address string, in map[string]string) (string, error) {
	refused := func(kind, cause error) error {
		return &Error{Op: op, Kind: kind, Cause: cause, Detail: describe(cause), write: true}
	}
	if in["body"] == "" {
		return "", refused(ErrForbidden, errors.New("the body is empty: it did not come through the sanitizer"))
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", refused(ErrBadAnswer, err)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.waitToCreate(ctx, op); err != nil {
		return "", err
	}
	if err := beforePull.Hit(); err != nil {
		return "", refused(ErrUnavailable, err)
	}
	var p restPull
	err = c.send(ctx, method, address, text, &p)
	c.lastWrite = time.Now()
	if stop := afterPull.Hit(); stop != nil { // as if the answer had been lost
		return "", &Error{Op: op, Kind: ErrUnavailable, Cause: stop, Detail: describe(stop), write: true, sent: true}
	}
	if err != nil {
		e := classify(op, err)
		return "", e.wrote(e.status < 300 || e.status >= 500) // without a status the answer was lost, or could not be read
	}
	if want := fmt.Sprintf("https://%s/%s/%s/pull/%d", c.host, repo.Owner, repo.Name, p.Number); p.Number == 0 || !strings.EqualFold(p.URL, want) {
		return "", &Error{Op: op, Kind: ErrBadAnswer, Detail: "GitHub answered with no pull request of it", write: true, sent: true}
	}
	return p.URL, nil
}

// send makes one request that writes; nothing repeats it.
func (c *Client) send(ctx context.Context, method, address string, body []byte, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("%w: no answer within %s", ErrUnavailable, answerTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.rest+address, onlyOnce{bytes.NewReader(body)})
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	c.tally.write()
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return api.HandleHTTPError(resp)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// onlyOnce is a body that net/http cannot read a second time, and so never sends again by itself.
type onlyOnce struct{ io.Reader }
