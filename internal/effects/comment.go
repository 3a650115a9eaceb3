package effects

import (
	"context"
	"fmt"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Poster publishes one sanitized comment and lists those published before.
type Poster interface {
	// Post adds one comment and returns its URL. It never retries. Errors are as those of Kind.Send.
	Post(ctx context.Context, pr review.PullRequest, body sanitize.Text) (string, error)
	// CommentsSince lists the timeline comments updated at or after a time by GitHub's clock, all pages; all comments there are
	// when it is zero.
	CommentsSince(ctx context.Context, pr review.PullRequest, since time.Time) ([]review.Comment, error)
}

// Comment is the kind of a new timeline comment. Its payload is a text of sanitize.Comment, its ref the comment's URL. It is
// found by its nonce and part in a marker whose MAC holds, under the account it was sent as.
type Comment struct {
	Poster Poster
	// Key authenticates markers (threats.md "Marker").
	Key []byte
	// Policy is what a stored text is checked by before it is sent.
	Policy sanitize.Policy
	// Sleep waits between two readings, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// CommentKey is the key of one part of a report. Migration 00005 makes the same from the rows of before.
func CommentKey(run string, round int, op string, part int) string {
	return fmt.Sprintf("%s/%d/%s/%d", run, round, op, part)
}

// CommentNonce is the nonce of one part of a report: the marker has the report's, which all its parts share.
func CommentNonce(report string, part int) string { return fmt.Sprintf("%s-%d", report, part) }

// Name is "comment".
func (Comment) Name() string { return "comment" }

// Send checks the text again and posts it.
func (c Comment) Send(ctx context.Context, e Effect) (string, error) {
	body, err := sanitize.Restore(e.Payload, c.Policy)
	if err != nil {
		return "", NotSent(fmt.Errorf("stored comment of run %s: %w", e.Run, err))
	}
	return c.Poster.Post(ctx, pull(e), body)
}

// Find reads the comments until they settle.
func (c Comment) Find(ctx context.Context, e Effect) (string, error) {
	ref, err := Settled(ctx, c.Sleep, func() (ids []string, ref string, err error) {
		comments, err := c.Poster.CommentsSince(ctx, pull(e), e.Since)
		for _, there := range comments {
			ids = append(ids, there.ID)
			if m, ok := sanitize.ParseMarker(there.Body); ok && CommentNonce(m.Nonce, m.Part) == e.Nonce && c.Authentic(there, pull(e), e.As) {
				return ids, there.URL, nil
			}
		}
		return ids, "", err
	})
	if err != nil {
		return "", fmt.Errorf("look for a comment on pull request %d: %w", e.Target.PR, err)
	}
	return ref, nil
}

// Repeatable is false: each call adds a comment.
func (Comment) Repeatable() bool { return false }

// Authentic reports whether a comment was posted by prloop as an account: it is the author, and the marker's MAC holds
// (threats.md "Marker").
func (c Comment) Authentic(there review.Comment, pr review.PullRequest, as review.Person) bool {
	return authentic(there, pr, as, c.Key)
}

// Sealed reports whether the MAC of a comment's marker holds. Anybody can copy such a comment.
func (c Comment) Sealed(there review.Comment, pr review.PullRequest) bool {
	return sealed(there, pr, c.Key)
}

func authentic(there review.Comment, pr review.PullRequest, as review.Person, key []byte) bool {
	return Same(there.Author, as) && sealed(there, pr, key)
}

func sealed(there review.Comment, pr review.PullRequest, key []byte) bool {
	_, err := sanitize.Verify(there.Body, key, pr.Repo.String(), pr.Number)
	return err == nil
}

// Same tells accounts apart by their ids, as logins can be changed and reused; by their logins where GitHub tells no id.
func Same(a, b review.Person) bool {
	if a.ID != 0 && b.ID != 0 {
		return a.ID == b.ID
	}
	return a.Login == b.Login
}

func pull(e Effect) review.PullRequest {
	return review.PullRequest{Repo: e.Target.Repo, Number: e.Target.PR}
}
