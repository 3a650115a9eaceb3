package github

import (
	"context"

	"github.com/prloop/prloop/internal/spelling"
	"github.com/prloop/prloop/review"
)

const threadComments = `comments(first: $few, after: $inner) { pageInfo { hasNextPage endCursor } nodes { ` + commentFields + ` pullRequestReview { commit { oid } } } }`

const threadList = `reviewThreads(first: $few, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved viewerCanResolve viewerCanUnresolve isOutdated path line originalLine resolvedBy { __typename login databaseId } ` + threadComments + ` }
    }`

const threadsQuery = `query Threads($owner: String!, $name: String!, $number: Int!, $after: String, $inner: String, $few: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { ` + threadList + ` } }
}`

const threadQuery = `query Thread($id: ID!, $inner: String, $few: Int!) {
  node(id: $id) { ... on PullRequestReviewThread { ` + threadComments + ` } }
}`

type threadPage struct {
	PageInfo pageInfo
	Nodes    []struct {
		ID                     string
		IsResolved, IsOutdated bool
		ViewerCanResolve       *bool
		ViewerCanUnresolve     *bool
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
	return r.pages(ctx, fewAtOnce, func(ctx context.Context, after any, size int) (pageInfo, bool, error) {
		page := r.first.ReviewThreads
		if after != nil || r.apart {
			var a struct {
				Repository struct {
					PullRequest struct{ ReviewThreads threadPage }
				}
			}
			if err := r.c.query(ctx, r.op("review threads"), true, threadsQuery, r.vars(after, "few", size), &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Repository.PullRequest.ReviewThreads
		}
		for _, n := range page.Nodes {
			if r.seen[n.ID] {
				continue
			}
			r.seen[n.ID] = true
			t := review.Thread{ID: n.ID, Resolved: n.IsResolved, Outdated: n.IsOutdated, File: spelling.Name(n.Path), Line: n.Line, Comments: []review.Comment{}}
			if n.OriginalLine != nil {
				t.Origin = *n.OriginalLine
			}
			may := n.ViewerCanResolve
			if n.IsResolved {
				may = n.ViewerCanUnresolve
			}
			t.Unresolvable = may != nil && !*may
			if n.ResolvedBy != nil && n.IsResolved {
				p := r.person(n.ResolvedBy.person(""))
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
	return r.pages(ctx, fewAtOnce, func(ctx context.Context, after any, size int) (pageInfo, bool, error) {
		page := first
		if after != nil {
			var a struct {
				Node struct{ Comments commentPage }
			}
			if err := r.c.query(ctx, r.op("a review thread"), true, threadQuery, map[string]any{"id": t.ID, "inner": after, "few": size}, &a); err != nil {
				return pageInfo{}, false, err
			}
			page = a.Node.Comments
		}
		said, err := r.said(ctx, page.Nodes)
		t.Comments = append(t.Comments, said...)
		return page.PageInfo, len(t.Comments) >= r.c.bounds.threadComments, err
	})
}
