package github

import (
	"errors"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/testkit/forge"
	"github.com/prloop/prloop/sanitize"
)

// A comment of ours gets other words, and stays where it is; one that is gone, or an answer that was lost, is an error that says which.
func TestEditComment(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	url, err := c.Post(t.Context(), pr, text(t, "Quick scan."))
	if err != nil {
		t.Fatal(err)
	}
	id := p.Comments()[0].ID
	after := text(t, "Escalating to full review.")
	if got, err := c.EditComment(t.Context(), pr, id, after); err != nil || got != url {
		t.Errorf("%q, %v; want %q", got, err, url)
	}
	if all := p.Comments(); len(all) != 1 || strings.TrimSpace(all[0].Body) != strings.TrimSpace(after.String()) {
		t.Errorf("the pull request has %+v", all)
	}
	if _, err := c.EditComment(t.Context(), pr, id+1000, after); !errors.Is(err, ErrNotFound) || !refused(err) {
		t.Errorf("a comment that is not there: %v", err)
	}
	if _, err := c.EditComment(t.Context(), pr, id, sanitize.Text{}); err == nil || !refused(err) {
		t.Errorf("a body that did not come through the sanitizer: %v", err)
	}
	f.Fail(forge.Fault{Op: "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", Mode: forge.ResetAfter, Times: 1})
	if _, err := c.EditComment(t.Context(), pr, id, after); err == nil || refused(err) {
		t.Errorf("an answer that was lost: %v", err)
	}
	if _, err := effects.EditPayload("https://github.com/acme/widgets/pull/7#discussion_r1", after); err == nil {
		t.Error("the address of another comment was taken")
	}
}
