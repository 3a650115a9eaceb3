package effects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/internal/lazyregexp"
	"github.com/prloop/prloop/review"
)

// Reactor reacts to comments.
type Reactor interface {
	// React adds a reaction to a timeline comment, by its number, and returns its ReactionRef. It never retries. Errors are as those of
	// Kind.Send. A reaction that is there already stays.
	React(ctx context.Context, pr review.PullRequest, comment int64, content string) (ref string, err error)
}

// Reaction is the kind of a reaction to a comment. Its payload is the number of the comment and the word for the reaction, its ref a
// ReactionRef.
type Reaction struct{ Reactor Reactor }

// Seen is the reaction to a comment that is going to be answered.
const Seen = "eyes"

// ReactionKey is the key of a reaction to a comment of a host.
func ReactionKey(host string, comment int64, content string) string {
	return fmt.Sprintf("%s/%d/%s", host, comment, content)
}

// ReactionPayload is what a Reaction sends.
func ReactionPayload(comment int64, content string) string {
	return fmt.Sprintf("%d %s", comment, content)
}

// ReactionRef names a reaction, and says whether it was added or was there already.
func ReactionRef(id int64, added bool) string {
	if added {
		return fmt.Sprintf("added %d", id)
	}
	return fmt.Sprintf("there %d", id)
}

// ReactionAdded reports whether the reaction of a ref was not there before.
func ReactionAdded(ref string) bool { return strings.HasPrefix(ref, "added ") }

var reactionPayload = lazyregexp.New(`^([0-9]{1,18}) ([a-z0-9+-]{1,20})$`)

// Name is "reaction".
func (Reaction) Name() string { return "reaction" }

// Send checks the payload and adds the reaction.
func (r Reaction) Send(ctx context.Context, e Effect) (string, error) {
	m := reactionPayload.FindStringSubmatch(e.Payload)
	if m == nil {
		return "", NotSent(fmt.Errorf("stored reaction: %q names no comment", e.Payload))
	}
	comment, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return "", NotSent(err)
	}
	return r.Reactor.React(ctx, pull(e), comment, m[2])
}

// Find is not asked: see Repeatable.
func (Reaction) Find(context.Context, Effect) (string, error) {
	return "", errors.New("a reaction is not looked for")
}

// Repeatable is true: the second call changes nothing.
func (Reaction) Repeatable() bool { return true }
