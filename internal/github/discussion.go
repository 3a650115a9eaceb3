package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prloop/prloop/review"
)

// bounds say how much of a discussion is read; past one of them it is Truncated (threadsTruncated of spec.md A3).
type bounds struct {
	threads, threadComments, reviews, comments int
	// bytes is how much text is kept over all, others how much of the author's, and of all who may not block: what does not fit is cut, and no reason to be Truncated.
	bytes, others int
}

var defaultBounds = bounds{threads: 1000, threadComments: 500, reviews: 2000, comments: 5000, bytes: 16 << 20, others: 4 << 20}

// How many things one page has: of threads, which have comments each, and of others.
const (
	fewAtOnce  = 50
	manyAtOnce = 100
)

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
	// PublishedAt is when others could read it: one that was drafted in a review is that when the review is submitted.
	PublishedAt *time.Time
	edit
	IsMinimized     bool
	CreatedViaEmail bool
	// PullRequestReview is the review that a comment of a thread is part of. GitHub makes one of each reply, at the head of then.
	PullRequestReview *struct{ Commit *struct{ OID string } }
}

// edit is how a text was changed last.
type edit struct {
	// LastEditedAt is when somebody changed it; nil when nobody has. UpdatedAt is another one after less.
	LastEditedAt *time.Time
	// Editor is who did; nil also when their account is gone.
	Editor *struct{ Login string }
}

// by is who changed somebody's text last, where that is another, or nobody knows who did.
func (e edit) by(author *actor) string {
	switch {
	case e.Editor == nil && e.LastEditedAt == nil, e.Editor != nil && author != nil && e.Editor.Login == author.Login:
		return ""
	case e.Editor == nil:
		return "ghost"
	}
	return e.Editor.Login
}

const editFields = `lastEditedAt editor { login }`

const commentFields = `id fullDatabaseId url body author { ` + actorFields + ` } authorAssociation createdAt updatedAt publishedAt ` + editFields + ` isMinimized createdViaEmail`

func (m comment) shape() review.Comment {
	id, _ := strconv.ParseInt(m.FullDatabaseID, 10, 64)
	said := m.CreatedAt
	if m.PublishedAt != nil && m.PublishedAt.After(said) {
		said = *m.PublishedAt
	}
	var edited time.Time
	if m.LastEditedAt != nil {
		edited = *m.LastEditedAt
	}
	out := review.Comment{ID: m.ID, DatabaseID: id, URL: m.URL, Author: m.Author.person(m.AuthorAssociation), Body: m.Body,
		CreatedAt: said, UpdatedAt: m.UpdatedAt, EditedAt: edited, EditedBy: m.by(m.Author), Minimized: m.IsMinimized, Mailed: m.CreatedViaEmail}
	if in := m.PullRequestReview; in != nil && in.Commit != nil {
		out.Commit = in.Commit.OID
	}
	return out
}

// reader collects a discussion within the bounds, each thing once: pages that shift while they are read repeat items.
type reader struct {
	c     *Client
	pr    review.PullRequest
	seen  map[string]bool
	bytes int
	kept  *keeper
	// first are the first pages; apart says that they are too large for one answer.
	first firstPages
	apart bool
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
		ID, State, Body string
		SubmittedAt     *time.Time
		edit
		Author            *actor
		AuthorAssociation string
		Commit            *struct{ OID string }
	}
}

const discussionQuery = `query Discussion($owner: String!, $name: String!, $number: Int!, $after: String, $inner: String, $few: Int!, $many: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    ` + threadList + `
    ` + reviewList + `
    ` + commentList + `
  } }
}`

// Discussion reads everything people said on a pull request: all threads with all their comments, all reviews and the
// whole timeline, page by page, the first pages at once. It is Truncated when a bound is hit; of long texts it may have the beginning (keeper).
func (c *Client) Discussion(ctx context.Context, pr review.PullRequest) (review.Discussion, error) {
	r := &reader{c: c, pr: pr, seen: map[string]bool{}, kept: c.keeper(pr.Author), out: review.Discussion{Threads: []review.Thread{}, Reviews: []review.Review{}, Comments: []review.Comment{}}}
	var a struct {
		Repository struct{ PullRequest firstPages }
	}
	vars := r.vars(nil, "few", fewAtOnce)
	vars["many"] = manyAtOnce
	err := c.query(ctx, r.op("the discussion"), true, discussionQuery, vars, &a)
	r.first, r.apart = a.Repository.PullRequest, errors.Is(err, errTooLarge)
	if err != nil && !r.apart {
		return review.Discussion{}, err
	}
	for _, part := range []func(context.Context) error{r.threads, r.reviews, r.comments} {
		if err := part(ctx); err != nil {
			return review.Discussion{}, err
		}
	}
	r.out.Cut = r.kept.cut
	return r.out, nil
}

// take gives what is kept of a thing's text; ok is false when the thing was there before, or its text does not fit any more.
func (r *reader) take(ctx context.Context, id string, by review.Person, body string) (text string, ok bool, err error) {
	if r.seen[id] {
		return "", false, nil
	}
	r.seen[id] = true
	if text, err = r.kept.text(ctx, by, body); err != nil {
		return "", false, err
	}
	if r.bytes += len(text); r.bytes > r.c.bounds.bytes {
		r.out.Truncated = true
		return "", false, nil
	}
	return text, true, nil
}

// person is somebody by the login that the rest is told apart by: the author of the pull request by that with which it was read, as they may have renamed their account since.
func (r *reader) person(p review.Person) review.Person {
	if r.pr.By(p) {
		p.Login = r.pr.Author.Login
	}
	return p
}

// said takes comments.
func (r *reader) said(ctx context.Context, nodes []comment) (out []review.Comment, err error) {
	for _, n := range nodes {
		m := n.shape()
		m.Author = r.person(m.Author)
		text, ok, err := r.take(ctx, n.ID, m.Author, n.Body)
		if err != nil {
			return nil, err
		}
		if m.Body = text; ok {
			out = append(out, m)
		}
	}
	return out, nil
}

func (r *reader) op(what string) string {
	return fmt.Sprintf("read %s of %s#%d", what, r.pr.Repo, r.pr.Number)
}

// pages calls one until there is no next page. Each call gets the cursor to go on from and how many things the page may have, which is less where they are too
// large for one answer. It says how the page ended, and returns stop when a bound is reached. A server whose cursor does not advance is not followed for ever.
func (r *reader) pages(ctx context.Context, most int, one func(ctx context.Context, after any, size int) (pageInfo, bool, error)) error {
	var after any
	for size := most; ; size = min(2*size, most) {
		info, stop, err := one(ctx, after, size)
		for errors.Is(err, errTooLarge) && size > 1 {
			size = max(size/4, 1)
			info, stop, err = one(ctx, after, size)
		}
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

// vars are those of a query for a page of a size.
func (r *reader) vars(after any, name string, size int) map[string]any {
	return map[string]any{"owner": r.pr.Repo.Owner, "name": r.pr.Repo.Name, "number": r.pr.Number, "after": after, name: size}
}

const reviewList = `reviews(first: $many, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id state body submittedAt ` + editFields + ` author { ` + actorFields + ` } authorAssociation commit { oid } }
    }`

const reviewsQuery = `query Reviews($owner: String!, $name: String!, $number: Int!, $after: String, $many: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + reviewList + ` } }
}`

func (r *reader) reviews(ctx context.Context) error {
	return r.pages(ctx, manyAtOnce, func(ctx context.Context, after any, size int) (pageInfo, bool, error) {
		page := r.first.Reviews
		if after != nil || r.apart {
			var a struct {
				Repository struct {
					PullRequest struct{ Reviews reviewPage }
				}
			}
			if err := r.c.query(ctx, r.op("reviews"), true, reviewsQuery, r.vars(after, "many", size), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.Reviews
		}
		for _, n := range page.Nodes {
			by := r.person(n.Author.person(n.AuthorAssociation))
			text, ok, err := r.take(ctx, n.ID, by, n.Body)
			if err != nil {
				return pageInfo{}, false, err
			}
			if !ok {
				continue
			}
			v := review.Review{ID: n.ID, Author: by, State: n.State, Body: text, EditedBy: n.by(n.Author)}
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

const commentList = `comments(first: $many, after: $after) { pageInfo { hasNextPage endCursor } nodes { ` + commentFields + ` } }`

const commentsQuery = `query Comments($owner: String!, $name: String!, $number: Int!, $after: String, $many: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + commentList + ` } }
}`

func (r *reader) comments(ctx context.Context) error {
	return r.pages(ctx, manyAtOnce, func(ctx context.Context, after any, size int) (pageInfo, bool, error) {
		page := r.first.Comments
		if after != nil || r.apart {
			var a struct {
				Repository struct {
					PullRequest struct{ Comments commentPage }
				}
			}
			if err := r.c.query(ctx, r.op("comments"), true, commentsQuery, r.vars(after, "many", size), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.Comments
		}
		said, err := r.said(ctx, page.Nodes)
		r.out.Comments = append(r.out.Comments, said...)
		return page.PageInfo, len(r.out.Comments) >= r.c.bounds.comments, err
	})
}
