package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prloop/prloop/internal/github"
	"github.com/prloop/prloop/internal/trigger"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// stoppable looks for a comment that asks for a run to stop whenever the loop asks how the pull request is: before each round, comment,
// fix and push (decision 49).
type stoppable struct {
	orchestrator.Forge
	client *github.Client
	stops  orchestrator.Stops

	mu sync.Mutex
	// seen is the number of the newest comment that was looked at.
	seen int64
	// said is who asked; empty while nobody did.
	said string
}

// PullRequest reads the pull request, and says who asked the run to stop.
func (f *stoppable) PullRequest(ctx context.Context, repo review.Repo, number int) (review.PullRequest, error) {
	pr, err := f.Forge.PullRequest(ctx, repo, number)
	if err != nil || pr.State != "OPEN" {
		return pr, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.said == "" {
		f.said, err = f.find(ctx, pr)
	}
	pr.Stopped = f.said
	return pr, err
}

// find looks at the comments that are new. They mostly come with the pull request; only when there are more than that is GitHub asked for
// them (decision 58).
func (f *stoppable) find(ctx context.Context, pr review.PullRequest) (string, error) {
	f.seen = max(f.seen, f.stops.After)
	comments := pr.Newest
	if len(comments) == github.NewestComments && comments[0].DatabaseID > f.seen {
		var err error
		if comments, err = f.client.CommentsSince(ctx, pr, f.stops.Since); err != nil {
			return "", err
		}
	}
	newest := f.seen
	for _, c := range comments {
		if c.DatabaseID <= f.seen {
			continue
		}
		newest = max(newest, c.DatabaseID)
		lines, _ := trigger.Heard(trigger.Comment{
			Action: "created", PullRequest: true, Author: c.Author, Body: c.Body, Marked: sanitize.HasMarker(c.Body), Changed: !c.UpdatedAt.Equal(c.CreatedAt),
		}, f.stops.Bot)
		if !slices.ContainsFunc(trigger.Choose(lines, nil), func(a trigger.Ask) bool { return a.Word == trigger.Stop }) {
			continue
		}
		may, err := mayAsk(ctx, f.client, pr.Repo, c.Author.Login)
		if err != nil {
			return "", err
		}
		if may {
			return fmt.Sprintf("%s asked for a stop: %s", c.Author.Login, c.URL), nil
		}
	}
	f.seen = newest
	return "", nil
}

// stops is where comments begin that can stop a run which is ordered now: behind the one that asked for it, or the newest there is.
func stops(pr review.PullRequest, o Order) *orchestrator.Stops {
	if o.Asked != nil {
		return &orchestrator.Stops{Since: o.Asked.Since, After: o.Asked.Comment, Bot: o.Bot}
	}
	out := &orchestrator.Stops{Bot: o.Bot}
	if !pr.UpdatedAt.IsZero() {
		out.Since = pr.UpdatedAt.Add(-time.Minute)
	}
	for _, c := range pr.Newest {
		out.After = max(out.After, c.DatabaseID)
	}
	return out
}
