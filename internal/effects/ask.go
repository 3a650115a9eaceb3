package effects

import (
	"context"
	"fmt"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Requester asks people to review.
type Requester interface {
	// RequestReview asks users, and teams of the repository's owner by slug, to review a pull request, and returns its URL. It never
	// retries. Errors are as those of Kind.Send. Who was asked before stays asked.
	RequestReview(ctx context.Context, pr review.PullRequest, users, teams []string) (string, error)
}

// Ask is the kind of a request for a review. Its payload is that of AskPayload, its ref the pull request's URL.
type Ask struct{ Requester Requester }

// AskPayload is the payload of a request to people: logins, and teams as org/team.
func AskPayload(who []string) string { return strings.Join(who, " ") }

var asked = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*(?:/([A-Za-z0-9._-]+))?$`)

// Name is "ask".
func (Ask) Name() string { return "ask" }

// Send checks the names again and asks.
func (a Ask) Send(ctx context.Context, e Effect) (string, error) {
	var users, teams []string
	for _, name := range strings.Fields(e.Payload) {
		m := asked.FindStringSubmatch(name)
		switch {
		case m == nil:
			return "", NotSent(fmt.Errorf("stored %s of run %s: %q is nobody", e.Kind, e.Run, name))
		case m[1] != "":
			teams = append(teams, m[1])
		default:
			users = append(users, name)
		}
	}
	if len(users)+len(teams) == 0 {
		return "", NotSent(fmt.Errorf("stored %s of run %s names nobody", e.Kind, e.Run))
	}
	return a.Requester.RequestReview(ctx, pull(e), users, teams)
}

// Find is not asked: see Repeatable.
func (Ask) Find(context.Context, Effect) (string, error) { return "", errNotLookedFor }

// Repeatable is true: the second call changes nothing.
func (Ask) Repeatable() bool { return true }
