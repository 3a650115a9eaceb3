package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// OpenPulls lists the open pull requests of a repository, as far as a list tells of them: how they are, and not how much they change.
func (c *Client) OpenPulls(ctx context.Context, repo review.Repo) ([]review.PullRequest, error) {
	return c.openPulls(ctx, repo, url.Values{"sort": {"created"}, "direction": {"asc"}}, mostPulls)
}

// LatestPulls lists those of the open pull requests that changed last, which is one page of the list.
func (c *Client) LatestPulls(ctx context.Context, repo review.Repo) ([]review.PullRequest, error) {
	return c.openPulls(ctx, repo, url.Values{"sort": {"updated"}, "direction": {"desc"}}, manyAtOnce)
}

// openPulls lists so many open pull requests, in the order of a query.
func (c *Client) openPulls(ctx context.Context, repo review.Repo, query url.Values, most int) (found []review.PullRequest, err error) {
	query.Set("state", "open")
	seen := map[int]bool{}
	err = eachOf(ctx, c, fmt.Sprintf("list the open pull requests of %s", repo), true, repoAddress(repo, "/pulls"), query, mostPulls, func(p listedPull) error {
		if seen[p.Number] {
			return nil
		}
		seen[p.Number] = true
		pr := review.PullRequest{
			Repo: review.Repo{Host: c.host, Owner: repo.Owner, Name: repo.Name}, Number: p.Number, State: strings.ToUpper(p.State), Draft: p.Draft, Author: p.User.person(""),
			BaseRef: p.Base.Ref, BaseSHA: p.Base.SHA, HeadRef: p.Head.Ref, HeadSHA: p.Head.SHA, Labels: []string{}, UpdatedAt: p.Updated,
		}
		if p.Base.Repo != nil {
			pr.RepoID = p.Base.Repo.ID
			pr.CrossRepository = p.Head.Repo == nil || p.Head.Repo.ID != pr.RepoID
		}
		for _, l := range p.Labels {
			pr.Labels = append(pr.Labels, l.Name)
		}
		if found = append(found, pr); len(found) == most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

var errEnough = errors.New("more is not asked for")

// listedPull is a pull request as a list of REST shows it. Updated is when anything of it changed last.
type listedPull struct {
	restPull
	Draft   bool
	Labels  []struct{ Name string }
	Updated time.Time `json:"updated_at"`
}

// mostPulls bounds a list of pull requests.
const mostPulls = 1_000_000

// NewComments lists the comments on the timelines of all pull requests and issues of a repository that were changed at or after a time, oldest
// first, each with the number of what it is on. Where there are more than are read at once, until is the time to go on from: all that was changed
// before it was read. It is zero otherwise.
func (c *Client) NewComments(ctx context.Context, repo review.Repo, since time.Time) (out []NumberedComment, until time.Time, err error) {
	op, address, query := "read new comments of "+repo.String(), repoAddress(repo, "/issues/comments"), sinceQuery(since)
	all, err := c.list(ctx, op, address, query, review.Person{})
	if errors.Is(err, errEndless) { // it was read by age, which pages that move do no harm; what is new and what was edited of old stand beside each other there
		query.Set("sort", "updated")
		query.Set("direction", "asc")
		all, err = c.list(ctx, op, address, query, review.Person{})
		if last := len(all) - 1; errors.Is(err, errEndless) && all[last].UpdatedAt.After(since) {
			until, err = all[last].UpdatedAt, nil
		}
	}
	for _, m := range all {
		// https://HOST/OWNER/NAME/pull/7#issuecomment-123
		page, _, _ := strings.Cut(m.URL, "#")
		before, number, _ := cutLast(page, "/")
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			out = append(out, NumberedComment{Comment: m, Number: n, PullRequest: strings.HasSuffix(before, "/pull")})
		}
	}
	return out, until, err
}

// NumberedComment is a comment with the number of the pull request or the issue it is on.
type NumberedComment struct {
	review.Comment
	Number int
	// PullRequest is false for an issue.
	PullRequest bool
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
