package effects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// Editor gives comments other words.
type Editor interface {
	// EditComment gives a timeline comment of ours, by its number, another body and returns its URL. It never retries. Errors are as those of
	// Kind.Send.
	EditComment(ctx context.Context, pr review.PullRequest, comment int64, body sanitize.Text) (string, error)
}

// Edit is the kind of a timeline comment of ours that gets other words. Its ref is the comment's URL.
type Edit struct {
	Editor Editor
	// Policy is what a stored text is checked by before it is sent.
	Policy sanitize.Policy
}

// editWords are its payload: the number of the comment, and a text of sanitize.Comment.
type editWords struct {
	Comment int64  `json:"comment"`
	Body    string `json:"body"`
}

// EditPayload is the payload for a comment, by its URL; an error when that is none of a timeline comment.
func EditPayload(url string, body sanitize.Text) (string, error) {
	_, number, ok := strings.Cut(url, "#issuecomment-")
	n, err := strconv.ParseInt(number, 10, 64)
	if !ok || err != nil || n <= 0 {
		return "", fmt.Errorf("%q is the address of no comment on a timeline", url)
	}
	text, err := json.Marshal(editWords{n, body.String()})
	return string(text), err
}

// EditKey is the key of the one time that a comment, by its URL, comes to say what. It has no run: whichever comes first makes it.
func EditKey(url, what string) string { return url + "/" + what }

// Name is "edit-comment".
func (Edit) Name() string { return "edit-comment" }

// Send checks the words again and changes the comment's.
func (k Edit) Send(ctx context.Context, e Effect) (string, error) {
	w, body, err := readEdit(e, k.Policy)
	if err != nil {
		return "", err
	}
	return k.Editor.EditComment(ctx, pull(e), w.Comment, body)
}

// Find is not asked: see Repeatable.
func (Edit) Find(context.Context, Effect) (string, error) {
	return "", errors.New("the words of a comment are not looked for")
}

// Repeatable is true: a comment comes to say one thing once, and nothing else is said in it afterwards.
func (Edit) Repeatable() bool { return true }
