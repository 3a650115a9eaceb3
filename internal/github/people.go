package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prloop/prloop/review"
)

// Viewer is the account of the credential: whom comments are posted as. A client has one credential, so GitHub is asked once.
// The host must be the client's own or empty.
func (c *Client) Viewer(ctx context.Context, host string) (review.Person, error) {
	op := "read who is logged in to " + c.host
	if host != "" && !strings.EqualFold(host, c.host) {
		return review.Person{}, &Error{Op: op, Kind: ErrHost, Detail: "asked about " + oneLine(host)}
	}
	if c.app != nil && c.at.ID == 0 {
		any, err := c.anyone(ctx)
		if err != nil {
			return review.Person{}, err
		}
		return any.Viewer(ctx, host)
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.viewer != nil {
		return *c.viewer, nil
	}
	var a struct{ Viewer actor }
	if err := c.query(ctx, op, false, viewerQuery, nil, &a); err != nil {
		return review.Person{}, err
	}
	p := a.Viewer.person("")
	c.viewer = &p
	return p, nil
}

// Permission is what somebody may do with a repository: admin, maintain, write, triage, read or none; custom roles are
// given as the one of these they build on. It is asked when it matters, never remembered (decision 9). Who is asked about said or did something, so GitHub knows them: one
// 404 is no answer (threats.md T529).
func (c *Client) Permission(ctx context.Context, repo review.Repo, login string) (string, error) {
	op := fmt.Sprintf("read the permission of %s on %s", login, repo)
	var a struct {
		Permission string
		RoleName   string `json:"role_name"`
	}
	address := fmt.Sprintf("repos/%s/%s/collaborators/%s/permission", url.PathEscape(repo.Owner), url.PathEscape(repo.Name), url.PathEscape(login))
	if _, err := c.get(ctx, op, true, address, &a); err != nil {
		return "", err
	}
	switch a.RoleName {
	case "admin", "maintain", "write", "triage", "read", "none":
		return a.RoleName, nil
	}
	return a.Permission, nil
}

const viewerQuery = `query Viewer { viewer { __typename login databaseId } }`

// heldTime is how long Writes takes the same answer.
const heldTime = time.Hour

// writers are who may write to which repositories, and who may not, until when that is believed.
type writers struct {
	mu    sync.Mutex
	known map[string]writer
}

type writer struct {
	may   bool
	until time.Time
}

// Writes reports whether somebody may write to a repository, or might within the last hour. It tells whose words block, where their association does not, and
// grants nothing: strangers who say much have GitHub asked once an hour each (threats.md T493). Nobody may of whom GitHub does not tell, which is not kept of whom it
// does not find (threats.md T529).
func (c *Client) Writes(ctx context.Context, repo review.Repo, login string) (bool, error) {
	key, w := strings.ToLower(repo.String()+" "+login), &c.writers
	w.mu.Lock()
	known, now := w.known[key], time.Now()
	w.mu.Unlock()
	if now.Before(known.until) {
		return known.may, nil
	}
	permission, err := c.Permission(ctx, repo, login)
	if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrForbidden) {
		return false, err
	}
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	may := err == nil && review.MayWrite(permission)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil {
		w.known = map[string]writer{}
	}
	maps.DeleteFunc(w.known, func(_ string, k writer) bool { return !now.Before(k.until) })
	w.known[key] = writer{may, now.Add(heldTime)}
	return may, nil
}

const viewerPermissionQuery = `query ViewerPermission($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { viewerPermission }
}`

// CanComment judges before a run whether its report could be posted: ErrClosed, ErrLocked, or nil. A token that lacks the
// permission shows only when it posts; GitHub offers no way to ask.
func (c *Client) CanComment(ctx context.Context, pr review.PullRequest) error {
	op := fmt.Sprintf("prepare to comment on %s#%d", pr.Repo, pr.Number)
	if pr.State != "OPEN" {
		return &Error{Op: op, Kind: ErrClosed, Detail: strings.ToLower(oneLine(pr.State))}
	}
	if !pr.Locked {
		return nil
	}
	var a struct {
		Repository struct{ ViewerPermission string }
	}
	if err := c.query(ctx, op, true, viewerPermissionQuery, map[string]any{"owner": pr.Repo.Owner, "name": pr.Repo.Name}, &a); err != nil {
		return err
	}
	switch a.Repository.ViewerPermission {
	case "ADMIN", "MAINTAIN", "WRITE":
		return nil
	}
	return &Error{Op: op, Kind: ErrLocked}
}

// sinceLimit bounds a list of comments: so many in one window are no discussion.
const sinceLimit = 10_000

// CommentsSince lists the timeline comments updated at or after a time by GitHub's clock, oldest first, all pages, each once;
// all there are when the time is zero. It reads REST, which unlike GraphQL can be asked for a time. Of long texts they may have the beginning (keeper).
func (c *Client) CommentsSince(ctx context.Context, pr review.PullRequest, since time.Time) ([]review.Comment, error) {
	return c.list(ctx, fmt.Sprintf("read new comments of %s#%d", pr.Repo, pr.Number), restPath(pr, "issues")+"/comments", sinceQuery(since), pr.Author)
}

// restPath is where REST has a pull request, as one of "pulls" or as one of "issues".
func restPath(pr review.PullRequest, kind string) string {
	return fmt.Sprintf("repos/%s/%s/%s/%d", url.PathEscape(pr.Repo.Owner), url.PathEscape(pr.Repo.Name), kind, pr.Number)
}

// sinceQuery asks for what was changed at or after a time; for all when it is zero.
func sinceQuery(since time.Time) url.Values {
	query := url.Values{}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	return query
}

// list reads all pages of what has the shape of a comment, each thing once. author is that of the pull request, where it is one. With errEndless there
// is what was read.
func (c *Client) list(ctx context.Context, op, address string, query url.Values, author review.Person) ([]review.Comment, error) {
	out, seen, kept := []review.Comment{}, map[int64]bool{}, c.keeper(author)
	err := eachOf(ctx, c, op, true, address, query, sinceLimit, func(m restComment) (err error) {
		if seen[m.ID] {
			return nil
		}
		seen[m.ID] = true
		one := m.shape()
		one.Body, err = kept.text(ctx, one.Author, one.Body)
		out = append(out, one)
		return err
	})
	if err != nil && !errors.Is(err, errEndless) {
		return nil, err
	}
	return out, err
}

// restComment is a comment as REST shows it.
type restComment struct {
	ID          int64
	NodeID      string `json:"node_id"`
	HTMLURL     string `json:"html_url"`
	Body        string
	User        *restUser
	Association string    `json:"author_association"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ReplyTo     int64     `json:"in_reply_to_id"`
}

func (m restComment) shape() review.Comment {
	return review.Comment{ID: m.NodeID, DatabaseID: m.ID, URL: m.HTMLURL, Author: m.User.person(m.Association), Body: m.Body, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ReplyTo: m.ReplyTo}
}

// restUser is somebody as REST shows them; null when the account is gone.
type restUser struct {
	Login string
	ID    int64
	Type  string
}

func (u *restUser) person(association string) review.Person {
	if u == nil {
		return review.Person{Login: "ghost", Association: association}
	}
	return review.Person{Login: u.Login, ID: u.ID, Association: association, Bot: u.Type == "Bot"}
}
