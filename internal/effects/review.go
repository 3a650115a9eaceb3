package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// ErrMisplaced: GitHub refused a review because one of its comments stands on a line that is not in the diff. Nothing of it is there.
var ErrMisplaced = errors.New("a comment's line is not part of the diff")

// LineComment is a comment on lines of the head version of a file.
type LineComment struct {
	// Path is the file's name as it is in the repository.
	Path string
	// Line is the last line, Start the first of several; 0 for one line. Both stand in the same hunk of the diff.
	Start, Line int
	Body        sanitize.Text
}

// Reviewer submits reviews that only comment: they approve nothing and request nothing.
type Reviewer interface {
	// Review submits one review with its comments, all or none, and returns its URL. It never retries. Errors are as those of
	// Kind.Send, and wrap ErrMisplaced where a line is to blame.
	Review(ctx context.Context, pr review.PullRequest, commit string, body sanitize.Text, comments []LineComment) (string, error)
	// Reviews lists the reviews that were submitted, all pages; as comments, with the text each begins with.
	Reviews(ctx context.Context, pr review.PullRequest) ([]review.Comment, error)
}

// Review is the kind of one pull-request review with comments on lines. Its payload is that of ReviewPayload, its ref the review's
// URL. It is found by its nonce in a marker of its own text whose MAC holds, under the account it was sent as: GitHub takes it whole
// or not at all, so its comments are where it is.
type Review struct {
	Reviewer Reviewer
	// Key authenticates markers (threats.md "Marker").
	Key []byte
	// Policy is what stored texts are checked by before they are sent.
	Policy sanitize.Policy
	// Sleep waits between two readings, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// ReviewKey is the key of the review with some of the comments of a round: those from one number up to, and without, another.
func ReviewKey(run string, round, from, to int) string {
	return fmt.Sprintf("%s/%d/%d-%d", run, round, from, to)
}

// reviewPayload is what is stored of a review.
type reviewPayload struct {
	Body     string        `json:"body"`
	Comments []linePayload `json:"comments"`
}

type linePayload struct {
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
	Line  int    `json:"line"`
	Body  string `json:"body"`
}

// ReviewPayload is the payload of a review.
func ReviewPayload(body sanitize.Text, comments []LineComment) (string, error) {
	p := reviewPayload{Body: body.String()}
	for _, c := range comments {
		if !utf8.ValidString(c.Path) { // it would be stored as another name
			return "", fmt.Errorf("%q cannot be commented on: its name is not UTF-8", c.Path)
		}
		p.Comments = append(p.Comments, linePayload{c.Path, c.Start, c.Line, c.Body.String()})
	}
	data, err := json.Marshal(p)
	return string(data), err
}

// Name is "review".
func (Review) Name() string { return "review" }

// Send checks all texts again and submits the review.
func (r Review) Send(ctx context.Context, e Effect) (string, error) {
	refuse := func(err error) (string, error) {
		return "", NotSent(fmt.Errorf("stored review of run %s: %w", e.Run, err))
	}
	var p reviewPayload
	if err := json.Unmarshal([]byte(e.Payload), &p); err != nil {
		return refuse(err)
	}
	body, err := sanitize.Restore(p.Body, r.Policy)
	if err != nil {
		return refuse(err)
	}
	var comments []LineComment
	for _, c := range p.Comments {
		text, err := sanitize.Restore(c.Body, r.Policy)
		if err != nil {
			return refuse(err)
		}
		comments = append(comments, LineComment{c.Path, c.Start, c.Line, text})
	}
	return r.Reviewer.Review(ctx, pull(e), e.Head, body, comments)
}

// Find reads the reviews until they settle.
func (r Review) Find(ctx context.Context, e Effect) (string, error) {
	ref, err := Settled(ctx, r.Sleep, func() (ids []string, ref string, err error) {
		reviews, err := r.Reviewer.Reviews(ctx, pull(e))
		ids, ref = found(reviews, e, r.Key)
		return ids, ref, err
	})
	if err != nil {
		return "", fmt.Errorf("look for a review on pull request %d: %w", e.Target.PR, err)
	}
	return ref, nil
}

// Repeatable is false: each call adds a review.
func (Review) Repeatable() bool { return false }

// found gives the ids of what was listed, and where in it the effect is: the comment whose marker has its nonce and is authentic.
func found(list []review.Comment, e Effect, key []byte) (ids []string, ref string) {
	for _, there := range list {
		ids = append(ids, there.ID)
		if m, ok := sanitize.ParseMarker(there.Body); ok && m.Nonce == e.Nonce && authentic(there, pull(e), e.As, key) {
			ref = there.URL
		}
	}
	return ids, ref
}
