package github

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prloop/prloop/review"
)

// bounds say how much of a discussion is read; past one of them it is Truncated (threadsTruncated of spec.md A3).
type bounds struct {
	threads, threadComments, reviews, comments int
	// bytes is how much text is kept over all.
	bytes int
}

var defaultBounds = bounds{threads: 1000, threadComments: 500, reviews: 2000, comments: 5000, bytes: 16 << 20}

// pageInfo is where a page ends.
type pageInfo struct {
	HasNextPage bool
	EndCursor   string
}

// comment is what both kinds of comment have in common.
type comment struct {
	ID                   string
	FullDatabaseID       string
	URL, Body            string
	Author               *actor
	AuthorAssociation    string
	CreatedAt, UpdatedAt time.Time
	IsMinimized          bool
}

const commentFields = `id fullDatabaseId url body author { ` + actorFields + ` } authorAssociation createdAt updatedAt isMinimized`

func (m comment) shape() review.Comment {
	id, _ := strconv.ParseInt(m.FullDatabaseID, 10, 64)
	return review.Comment{ID: m.ID, DatabaseID: id, URL: m.URL, Author: m.Author.person(m.AuthorAssociation), Body: m.Body,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Minimized: m.IsMinimized}
}

// reader collects a discussion within the bounds, each thing once: pages that shift while they are read repeat items.
type reader struct {
	c     *Client
	pr    review.PullRequest
	seen  map[string]bool
	bytes int
	first firstPages
	out   review.Discussion
}

// firstPages are the first pages of all lists, which come with one query.
type firstPages struct {
	ReviewThreads threadPage
	Reviews       reviewPage
	Comments      commentPage
}

type reviewPage struct {
	PageInfo pageInfo
	Nodes    []struct {
		ID, State, Body   string
		SubmittedAt       *time.Time
		Author            *actor
		AuthorAssociation string
		Commit            *struct{ OID string }
	}
}

const discussionQuery = `query Discussion($owner: String!, $name: String!, $number: Int!, $after: String, $inner: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    ` + threadList + `
    ` + reviewList + `
    ` + commentList + `
  } }
}`

// Discussion reads everything people said on a pull request: all threads with all their comments, all reviews and the
// whole timeline, page by page, the first pages at once. It is Truncated when a bound is hit.
func (c *Client) Discussion(ctx context.Context, pr review.PullRequest) (review.Discussion, error) {
	r := &reader{c: c, pr: pr, seen: map[string]bool{}, out: review.Discussion{Threads: []review.Thread{}, Reviews: []review.Review{}, Comments: []review.Comment{}}}
	var a struct {
		Repository struct{ PullRequest firstPages }
	}
	if err := c.query(ctx, r.op("the discussion"), true, discussionQuery, r.vars(nil), &a); err != nil {
		return review.Discussion{}, err
	}
	r.first = a.Repository.PullRequest
	for _, part := range []func(context.Context) error{r.threads, r.reviews, r.comments} {
		if err := part(ctx); err != nil {
			return review.Discussion{}, err
		}
	}
	return r.out, nil
}

// take reports whether a thing is new and its text still fits.
func (r *reader) take(id, body string) bool {
	if r.seen[id] {
		return false
	}
	r.seen[id] = true
	if r.bytes += len(body); r.bytes > r.c.bounds.bytes {
		r.out.Truncated = true
		return false
	}
	return true
}

func (r *reader) op(what string) string {
	return fmt.Sprintf("read %s of %s#%d", what, r.pr.Repo, r.pr.Number)
}

// pages calls one until there is no next page. Each call gets the cursor to go on from and says how the page ended; it
// returns stop when a bound is reached. A server whose cursor does not advance is not followed for ever.
func (r *reader) pages(ctx context.Context, one func(context.Context, any) (pageInfo, bool, error)) error {
	var after any
	for {
		info, stop, err := one(ctx, after)
		if err != nil {
			return err
		}
		if !info.HasNextPage {
			return nil
		}
		if stop || info.EndCursor == "" || info.EndCursor == after {
			r.out.Truncated = true
			return nil
		}
		after = info.EndCursor
	}
}

func (r *reader) vars(after any) map[string]any {
	return map[string]any{"owner": r.pr.Repo.Owner, "name": r.pr.Repo.Name, "number": r.pr.Number, "after": after}
}

const reviewList = `reviews(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id state body submittedAt author { ` + actorFields + ` } authorAssociation commit { oid } }
    }`

const reviewsQuery = `query Reviews($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + reviewList + ` } }
}`

func (r *reader) reviews(ctx context.Context) error {
	return r.pages(ctx, func(ctx context.Context, after any) (pageInfo, bool, error) {
		page := r.first.Reviews
		if after != nil {
			var a struct {
				Repository struct {
					PullRequest struct{ Reviews reviewPage }
				}
			}
			if err := r.c.query(ctx, r.op("reviews"), true, reviewsQuery, r.vars(after), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.Reviews
		}
		for _, n := range page.Nodes {
			if !r.take(n.ID, n.Body) {
				continue
			}
			v := review.Review{ID: n.ID, Author: n.Author.person(n.AuthorAssociation), State: n.State, Body: n.Body}
			if n.Commit != nil {
				v.Commit = n.Commit.OID
			}
			if n.SubmittedAt != nil {
				v.SubmittedAt = *n.SubmittedAt
			}
			r.out.Reviews = append(r.out.Reviews, v)
		}
		return page.PageInfo, len(r.out.Reviews) >= r.c.bounds.reviews, nil
	})
}

const commentList = `comments(first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { ` + commentFields + ` } }`

const commentsQuery = `query Comments($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + commentList + ` } }
}`

func (r *reader) comments(ctx context.Context) error {
	return r.pages(ctx, func(ctx context.Context, after any) (pageInfo, bool, error) {
		page := r.first.Comments
		if after != nil {
			var a struct {
				Repository struct {
					PullRequest struct{ Comments commentPage }
				}
			}
			if err := r.c.query(ctx, r.op("comments"), true, commentsQuery, r.vars(after), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.Comments
		}
		for _, n := range page.Nodes {
			if r.take(n.ID, n.Body) {
				r.out.Comments = append(r.out.Comments, n.shape())
			}
		}
		return page.PageInfo, len(r.out.Comments) >= r.c.bounds.comments, nil
	})
}
