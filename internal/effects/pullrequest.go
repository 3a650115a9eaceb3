package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// TitleLimit is the longest title of a pull request, in characters.
const TitleLimit = 256

// PullWords are what a pull request says: the payload of an OpenPull and of an EditPull.
type PullWords struct {
	// Head and Base are branches of the repository; an EditPull has none.
	Head string `json:"head,omitempty"`
	Base string `json:"base,omitempty"`
	// Title is one line, Body a text of sanitize.Comment.
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Payload is the words as an effect keeps them.
func (w PullWords) Payload() string {
	text, _ := json.Marshal(w) // strings alone
	return string(text)
}

// Pulls opens and changes pull requests of a repository's own branches.
type Pulls interface {
	// OpenPull opens a pull request and returns its URL. It never retries. Errors are as those of Kind.Send.
	OpenPull(ctx context.Context, repo review.Repo, head, base, title string, body sanitize.Text) (string, error)
	// EditPull gives an open pull request other words and returns its URL. It never retries. Errors are as those of Kind.Send.
	EditPull(ctx context.Context, pr review.PullRequest, title string, body sanitize.Text) (string, error)
	// PullsOfBranch lists the open pull requests of a branch of the repository itself.
	PullsOfBranch(ctx context.Context, repo review.Repo, branch string) ([]review.PullRequest, error)
}

// OpenPull is the kind of a pull request that is opened. Its ref is the pull request's URL. It is found by its nonce in a marker whose
// MAC holds, under the account it was sent as.
type OpenPull struct {
	Pulls Pulls
	// Key authenticates markers, Policy is what a stored body is checked by.
	Key    []byte
	Policy sanitize.Policy
	// Sleep waits between two readings, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Name is "pull-request".
func (OpenPull) Name() string { return "pull-request" }

// Send checks the words again and opens the pull request.
func (o OpenPull) Send(ctx context.Context, e Effect) (string, error) {
	w, body, err := pullWords(e, o.Policy)
	if err == nil && (w.Head == "" || w.Base == "" || w.Head == w.Base) {
		err = fmt.Errorf("stored pull request of run %s: from %q to %q", e.Run, w.Head, w.Base)
	}
	if err != nil {
		return "", NotSent(err)
	}
	return o.Pulls.OpenPull(ctx, e.Target.Repo, w.Head, w.Base, w.Title, body)
}

// Find reads the branch's pull requests until they settle.
func (o OpenPull) Find(ctx context.Context, e Effect) (string, error) {
	w, _, err := pullWords(e, o.Policy)
	if err != nil {
		return "", err
	}
	ref, err := Settled(ctx, o.Sleep, func() (ids []string, ref string, err error) {
		pulls, err := o.Pulls.PullsOfBranch(ctx, e.Target.Repo, w.Head)
		for _, there := range pulls {
			ids = append(ids, fmt.Sprint(there.Number))
			m, err := sanitize.Verify(there.Body, o.Key, e.Target.Repo.String(), 0)
			if err == nil && m.Nonce == e.Nonce && Same(there.Author, e.As) {
				return ids, there.URL, nil
			}
		}
		return ids, "", err
	})
	if err != nil {
		return "", fmt.Errorf("look for the pull request of %s: %w", w.Head, err)
	}
	return ref, nil
}

// Repeatable is false: each call opens another, or is refused.
func (OpenPull) Repeatable() bool { return false }

// EditPull is the kind of an open pull request that is given other words. Its ref is the pull request's URL.
type EditPull struct {
	Pulls  Pulls
	Policy sanitize.Policy
}

// Name is "pull-request-words".
func (EditPull) Name() string { return "pull-request-words" }

// Send checks the words again and changes the pull request's.
func (k EditPull) Send(ctx context.Context, e Effect) (string, error) {
	w, body, err := pullWords(e, k.Policy)
	if err != nil {
		return "", NotSent(err)
	}
	return k.Pulls.EditPull(ctx, pull(e), w.Title, body)
}

// Find is not asked: see Repeatable.
func (EditPull) Find(context.Context, Effect) (string, error) {
	return "", errors.New("the words of a pull request are not looked for")
}

// Repeatable is true: one run of a job gives a pull request its words once, and no other run of that job is at work.
func (EditPull) Repeatable() bool { return true }

// pullWords reads stored words and checks them: a stored payload is untrusted.
func pullWords(e Effect, p sanitize.Policy) (w PullWords, body sanitize.Text, err error) {
	if err = json.Unmarshal([]byte(e.Payload), &w); err == nil {
		body, err = sanitize.Restore(w.Body, p)
	}
	switch {
	case err != nil:
	case sanitize.Leaks(w.Title, p):
		err = sanitize.ErrKnownSecret
	case strings.TrimSpace(w.Title) == "" || utf8.RuneCountInString(w.Title) > TitleLimit || strings.ContainsFunc(w.Title, func(r rune) bool { return r < ' ' || r == 0x7f }):
		err = fmt.Errorf("%q is no title", w.Title)
	}
	if err != nil {
		err = fmt.Errorf("stored pull request of run %s: %w", e.Run, err)
	}
	return w, body, err
}
