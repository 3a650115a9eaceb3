package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/sanitize"
)

// Rewrite is the kind of a comment of ours that gets another report, and may get others after it (decision 80). Its payload is that of an edit, its ref
// the comment's URL. It is there when the comment has the marker of its own report: run, round and nonce, under the account it was sent as, with a
// MAC that holds. Whoever delivers it has to see to it that the comment still has the report which is to be replaced.
type Rewrite struct {
	Editor Editor
	// Poster lists comments.
	Poster Poster
	// Key authenticates markers, Policy is what a stored text is checked by before it is sent.
	Key    []byte
	Policy sanitize.Policy
	// Sleep waits between two readings, or until ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Name is "rewrite-comment".
func (Rewrite) Name() string { return "rewrite-comment" }

// Send checks the words again and changes the comment's.
func (k Rewrite) Send(ctx context.Context, e Effect) (string, error) {
	w, body, err := readEdit(e, k.Policy)
	if err == nil && !ours(body) {
		err = NotSent(fmt.Errorf("stored words of run %s for a comment: they have no marker", e.Run))
	}
	if err != nil {
		return "", err
	}
	return k.Editor.EditComment(ctx, pull(e), w.Comment, body)
}

// Find reads the comments until they settle.
func (k Rewrite) Find(ctx context.Context, e Effect) (string, error) {
	_, body, err := readEdit(e, k.Policy)
	if err != nil {
		return "", err
	}
	want, _ := sanitize.ParseMarker(body.String())
	ref, err := Settled(ctx, k.Sleep, func() (ids []string, ref string, err error) {
		comments, err := k.Poster.CommentsSince(ctx, pull(e), e.Since)
		for _, there := range comments {
			ids = append(ids, there.ID)
			if m, ok := sanitize.ParseMarker(there.Body); ok && sameReport(m, want) && authentic(there, pull(e), e.As, k.Key) {
				return ids, there.URL, nil
			}
		}
		return ids, "", err
	})
	if err != nil {
		return "", fmt.Errorf("look for the report in a comment on pull request %d: %w", e.Target.PR, err)
	}
	return ref, nil
}

// Repeatable is false: another report may stand there since.
func (Rewrite) Repeatable() bool { return false }

// sameReport reports whether two markers name one report.
func sameReport(a, b sanitize.Marker) bool {
	return a.ReviewID == b.ReviewID && a.Run == b.Run && a.Round == b.Round && a.Part == b.Part && a.Nonce == b.Nonce
}

// ours reports whether a text names its report.
func ours(body sanitize.Text) bool {
	m, ok := sanitize.ParseMarker(body.String())
	return ok && m.Run != "" && m.Nonce != ""
}

// readEdit reads the payload of an edit, and checks it. The error is that of an effect that was not sent.
func readEdit(e Effect, p sanitize.Policy) (w editWords, body sanitize.Text, err error) {
	if err = json.Unmarshal([]byte(e.Payload), &w); err == nil {
		body, err = sanitize.Restore(w.Body, p)
	}
	if err == nil && w.Comment <= 0 {
		err = errors.New("it names no comment")
	}
	if err != nil {
		err = NotSent(fmt.Errorf("stored words of run %s for a comment: %w", e.Run, err))
	}
	return w, body, err
}
