package github

import (
	"context"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

const threadComments = `comments(first: 50, after: $inner) { pageInfo { hasNextPage endCursor } nodes { ` + commentFields + ` } }`

const threadList = `reviewThreads(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved isOutdated path line originalLine resolvedBy { __typename login databaseId } ` + threadComments + ` }
    }`

const threadsQuery = `query Threads($owner: String!, $name: String!, $number: Int!, $after: String, $inner: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + threadList + ` } }
}`

const threadQuery = `query Thread($id: ID!, $inner: String) {
  node(id: $id) { ... on PullRequestReviewThread { ` + threadComments + ` } }
}`

type threadPage struct {
	PageInfo pageInfo
	Nodes    []struct {
		ID                     string
		IsResolved, IsOutdated bool
		Path                   string
		Line, OriginalLine     *int
		ResolvedBy             *actor
		Comments               commentPage
	}
}

type commentPage struct {
	PageInfo pageInfo
	Nodes    []comment
}

func (r *reader) threads(ctx context.Context) error {
	return r.pages(ctx, func(ctx context.Context, after any) (pageInfo, bool, error) {
		page := r.first.ReviewThreads
		if after != nil {
			var a struct {
				Repository struct {
					PullRequest struct{ ReviewThreads threadPage }
				}
			}
			if err := r.c.query(ctx, r.op("review threads"), true, threadsQuery, r.vars(after), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.ReviewThreads
		}
		for _, n := range page.Nodes {
			if !r.take(n.ID, "") {
				continue
			}
			t := review.Thread{ID: n.ID, Resolved: n.IsResolved, Outdated: n.IsOutdated, File: spelling.Name(n.Path), Line: n.Line, Comments: []review.Comment{}}
			if n.OriginalLine != nil {
				t.Origin = *n.OriginalLine
			}
			if n.ResolvedBy != nil && n.IsResolved {
				p := n.ResolvedBy.person("")
				t.ResolvedBy = &p
			}
			if err := r.fill(ctx, &t, n.Comments); err != nil {
				return pageInfo{}, false, err
			}
			r.out.Threads = append(r.out.Threads, t)
		}
		return page.PageInfo, len(r.out.Threads) >= r.c.bounds.threads, nil
	})
}

// fill takes the first page of a thread's comments and reads the others.
func (r *reader) fill(ctx context.Context, t *review.Thread, first commentPage) error {
	add := func(page commentPage) (pageInfo, bool) {
		for _, n := range page.Nodes {
			if r.take(n.ID, n.Body) {
				t.Comments = append(t.Comments, n.shape())
			}
		}
		return page.PageInfo, len(t.Comments) >= r.c.bounds.threadComments
	}
	return r.pages(ctx, func(ctx context.Context, after any) (pageInfo, bool, error) {
		if after == nil {
			info, stop := add(first)
			return info, stop, nil
		}
		var a struct {
			Node struct{ Comments commentPage }
		}
		if err := r.c.query(ctx, r.op("a review thread"), true, threadQuery, map[string]any{"id": t.ID, "inner": after}, &a); err != nil {
			return pageInfo{}, false, err
		}
		info, stop := add(a.Node.Comments)
		return info, stop, nil
	})
}
