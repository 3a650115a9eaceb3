package github

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// whoseQuery asks in which repository something is, and whose it is. Only what prloop acts on by its id has a place here.
const whoseQuery = `query Whose($id: ID!) {
  node(id: $id) {
    ... on PullRequest { repository { nameWithOwner } }
    ... on PullRequestReviewThread { pullRequest { repository { nameWithOwner } } }
    ... on IssueComment { author { ` + actorFields + ` } repository { nameWithOwner } }
  }
}`

// mayTouch refuses what is done by an id to something in a repository that is not served, whatever the sender says of it, and what changes words of
// somebody else: prloop edits and hides its own comments and pull requests alone.
func (b *Broker) mayTouch(ctx context.Context, c *Client, r *http.Request, path string, raw []byte, repo review.Repo) error {
	var author review.Person
	var err error
	switch id, hides := nodeOf(r, raw); {
	case id != "" && (hides || len(b.only) > 0):
		var in review.Repo
		if in, author, err = c.whose(ctx, id); err != nil {
			break
		}
		if !b.serves(in) || in.Name == "" {
			return unwanted("what it names is in none of its repositories")
		}
		if !hides {
			return nil
		}
	case r.Method == http.MethodPatch:
		author, err = c.wroteAt(ctx, path, repo)
	default:
		return nil
	}
	var own review.Person
	if err == nil {
		own, err = c.Viewer(ctx, "")
	}
	if err != nil {
		e := *classify("", err)
		e.unsent = true
		return &e
	}
	if !effects.Same(author, own) {
		return unwanted("the words are not those of its account")
	}
	return nil
}

// nodeOf is the id by which a query names what it is about, empty when it names a repository; hides is true for one that hides a comment.
func nodeOf(r *http.Request, raw []byte) (id string, hides bool) {
	var asked struct {
		Query     string
		Variables map[string]any
	}
	if resource(r) != graphql || json.Unmarshal(raw, &asked) != nil {
		return "", false
	}
	input, _ := asked.Variables["input"].(map[string]any)
	switch {
	case slices.Contains([]string{threadQuery, mailedQuery, resolveMutation, unresolveMutation, minimizeMutation}, asked.Query):
		id, _ = asked.Variables["id"].(string)
	case !slices.Contains(documents, asked.Query) && input != nil: // gh's comment
		id, _ = input["subjectId"].(string)
	}
	return id, asked.Query == minimizeMutation
}

// whose is the repository that something is in, and who wrote it if it is a comment.
func (c *Client) whose(ctx context.Context, id string) (review.Repo, review.Person, error) {
	type place struct {
		Repository struct{ NameWithOwner string }
	}
	var a struct {
		Node struct {
			place
			Author      *actor
			PullRequest place
		}
	}
	if err := c.query(ctx, "read whose a request's subject is", true, whoseQuery, map[string]any{"id": id}, &a); err != nil {
		return review.Repo{}, review.Person{}, err
	}
	owner, name, _ := strings.Cut(a.Node.Repository.NameWithOwner+a.Node.PullRequest.Repository.NameWithOwner, "/")
	return review.Repo{Host: c.host, Owner: owner, Name: name}, a.Node.Author.person(""), nil
}

// wroteAt is who wrote the comment, or opened the pull request, at an address.
func (c *Client) wroteAt(ctx context.Context, path string, repo review.Repo) (review.Person, error) {
	number, err := strconv.ParseInt(path[strings.LastIndexByte(path, '/')+1:], 10, 64)
	if err != nil {
		return review.Person{}, &Error{Op: "read who wrote " + path, Kind: ErrNotFound}
	}
	if strings.Contains(path, "/issues/comments/") {
		var m restComment
		_, err := c.get(ctx, "read who wrote a comment in "+repo.String(), true, repoAddress(repo, "/issues/comments/"+strconv.FormatInt(number, 10)), &m)
		return m.shape().Author, err
	}
	pr, err := c.PullRequest(ctx, repo, int(number))
	return pr.Author, err
}
