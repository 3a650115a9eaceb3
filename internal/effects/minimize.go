package effects

import (
	"context"
	"errors"

	"github.com/prloop/prloop/review"
)

// Minimizer collapses comments.
type Minimizer interface {
	// Minimize collapses a comment, by its node id, as outdated, and returns its URL. It never retries. Errors are as those of
	// Kind.Send. A comment that is collapsed already stays so.
	Minimize(ctx context.Context, pr review.PullRequest, comment string) (string, error)
}

// Minimize is the kind of a timeline comment of ours that a newer one replaces: it is collapsed as outdated, and not edited. Its
// payload is the comment's node id, its ref the comment's URL.
type Minimize struct{ Minimizer Minimizer }

// MinimizeKey is the key of a comment. It has no run: what a person has opened again stays open.
func MinimizeKey(comment string) string { return comment }

// Name is "minimize".
func (Minimize) Name() string { return "minimize" }

// Send checks the id again and collapses the comment.
func (m Minimize) Send(ctx context.Context, e Effect) (string, error) {
	if err := checkID(e); err != nil {
		return "", err
	}
	return m.Minimizer.Minimize(ctx, pull(e), e.Payload)
}

// Find is not asked: see Repeatable.
func (Minimize) Find(context.Context, Effect) (string, error) {
	return "", errors.New("a minimised comment is not looked for")
}

// Repeatable is true: the second call changes nothing.
func (Minimize) Repeatable() bool { return true }
