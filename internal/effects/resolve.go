package effects

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prloop/prloop/review"
)

// Resolver settles review threads and opens them again.
type Resolver interface {
	// Resolve marks a thread, by its node id, as resolved and returns the URL of its first comment. It never retries. Errors are as
	// those of Kind.Send. A resolved thread stays so.
	Resolve(ctx context.Context, pr review.PullRequest, thread string) (string, error)
	// Unresolve opens a thread again, in the same way.
	Unresolve(ctx context.Context, pr review.PullRequest, thread string) (string, error)
}

// Resolve is the kind of a review thread that is settled. Its payload is the thread's node id, its ref the URL of its first comment.
type Resolve struct{ Resolver Resolver }

// Unresolve is the kind of a review thread that is opened again; payload and ref are as those of Resolve.
type Unresolve struct{ Resolver Resolver }

// Name is "resolve".
func (Resolve) Name() string { return "resolve" }

// Name is "unresolve".
func (Unresolve) Name() string { return "unresolve" }

// Send checks the id again and resolves the thread.
func (r Resolve) Send(ctx context.Context, e Effect) (string, error) {
	if err := checkID(e); err != nil {
		return "", err
	}
	return r.Resolver.Resolve(ctx, pull(e), e.Payload)
}

// Send checks the id again and opens the thread.
func (u Unresolve) Send(ctx context.Context, e Effect) (string, error) {
	if err := checkID(e); err != nil {
		return "", err
	}
	return u.Resolver.Unresolve(ctx, pull(e), e.Payload)
}

// Find is not asked: see Repeatable.
func (Resolve) Find(context.Context, Effect) (string, error) { return "", errNotLookedFor }

// Find is not asked: see Repeatable.
func (Unresolve) Find(context.Context, Effect) (string, error) { return "", errNotLookedFor }

var errNotLookedFor = errors.New("a thread's state is not looked for")

// Repeatable is true: the second call changes nothing.
func (Resolve) Repeatable() bool { return true }

// Repeatable is true: the second call changes nothing.
func (Unresolve) Repeatable() bool { return true }

// checkID refuses a payload that cannot be a node id.
func checkID(e Effect) error {
	if e.Payload == "" || strings.ContainsFunc(e.Payload, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return NotSent(fmt.Errorf("stored %s of run %s: %q is no id", e.Kind, e.Run, e.Payload))
	}
	return nil
}
