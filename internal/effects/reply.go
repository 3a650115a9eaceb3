package effects

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Replier answers in review threads, and lists what was said in them.
type Replier interface {
	// Reply adds a comment to the thread whose first comment has the number given, and returns its URL. It never retries. Errors
	// are as those of Kind.Send.
	Reply(ctx context.Context, pr review.PullRequest, first int64, body sanitize.Text) (string, error)
	// ThreadCommentsSince lists the comments of all threads updated at or after a time by GitHub's clock, all pages; all there are
	// when it is zero.
	ThreadCommentsSince(ctx context.Context, pr review.PullRequest, since time.Time) ([]review.Comment, error)
}

// Reply is the kind of an answer in a review thread. Its payload is that of ReplyPayload, its ref the comment's URL. It is found by
// its nonce in a marker whose MAC holds, under the account it was sent as.
type Reply struct {
	Replier Replier
	// Key authenticates markers (threats.md "Marker").
	Key []byte
	// Policy is what a stored text is checked by before it is sent.
	Policy sanitize.Policy
	// Sleep waits between two readings, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// ReplyKey is the key of what a run says in a thread in a round: it says one thing.
func ReplyKey(run string, round int, thread string) string {
	return fmt.Sprintf("%s/%d/%s", run, round, thread)
}

// replyPayload is what is stored of a reply.
type replyPayload struct {
	// First is the number of the thread's first comment.
	First int64  `json:"first"`
	Body  string `json:"body"`
}

// ReplyPayload is the payload of an answer in the thread whose first comment has the number given.
func ReplyPayload(first int64, body sanitize.Text) (string, error) {
	data, err := json.Marshal(replyPayload{first, body.String()})
	return string(data), err
}

// Name is "reply".
func (Reply) Name() string { return "reply" }

// Send checks the text again and posts it.
func (r Reply) Send(ctx context.Context, e Effect) (string, error) {
	var p replyPayload
	err := json.Unmarshal([]byte(e.Payload), &p)
	if err == nil && p.First <= 0 {
		err = fmt.Errorf("%d is no comment", p.First)
	}
	var body sanitize.Text
	if err == nil {
		body, err = sanitize.Restore(p.Body, r.Policy)
	}
	if err != nil {
		return "", NotSent(fmt.Errorf("stored reply of run %s: %w", e.Run, err))
	}
	return r.Replier.Reply(ctx, pull(e), p.First, body)
}

// Find reads the comments until they settle.
func (r Reply) Find(ctx context.Context, e Effect) (string, error) {
	ref, err := Settled(ctx, r.Sleep, func() (ids []string, ref string, err error) {
		comments, err := r.Replier.ThreadCommentsSince(ctx, pull(e), e.Since)
		ids, ref = found(comments, e, r.Key)
		return ids, ref, err
	})
	if err != nil {
		return "", fmt.Errorf("look for a reply on pull request %d: %w", e.Target.PR, err)
	}
	return ref, nil
}

// Repeatable is false: each call adds a comment.
func (Reply) Repeatable() bool { return false }
