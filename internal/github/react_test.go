package github

import (
	"errors"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/testkit/forge"
)

// GitHub says whether a reaction was new, which is how two who hear the same comment tell who was first (decision 49).
func TestReact(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	id := p.Comment("mona", "!prloop help")
	first, err := c.React(t.Context(), pr, id, effects.Seen)
	if err != nil || !effects.ReactionAdded(first) {
		t.Errorf("%q, %v", first, err)
	}
	second, err := c.React(t.Context(), pr, id, effects.Seen)
	if err != nil || effects.ReactionAdded(second) {
		t.Errorf("%q, %v", second, err)
	}
	if got := p.Comments()[0].Reactions; len(got) != 1 || got[0].Login != "octocat" || got[0].Content != "eyes" {
		t.Errorf("the comment has %+v", got)
	}
	if _, err := c.React(t.Context(), pr, id+1000, effects.Seen); !errors.Is(err, ErrNotFound) || !refused(err) {
		t.Errorf("a comment that is not there: %v", err)
	}
	f.Fail(forge.Fault{Op: "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", Mode: forge.ResetAfter, Times: 1})
	if _, err := c.React(t.Context(), pr, id, effects.Seen); err == nil || refused(err) {
		t.Errorf("an answer that was lost: %v", err)
	}
}

func refused(err error) bool {
	var r interface{ Refused() bool }
	return errors.As(err, &r) && r.Refused()
}

// A comment is read as it is now, and only from its own pull request.
func TestComment(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	id := p.Comment("mona", "!prloop help")
	m, err := c.Comment(t.Context(), pr, id)
	if err != nil || m.DatabaseID != id || m.Author.Login != "mona" || m.Body != "!prloop help" {
		t.Errorf("%+v, %v", m, err)
	}
	for _, want := range []bool{true, false} {
		if want {
			m, err = c.Comment(t.Context(), pr, p.Mail("mona", "!prloop help"))
		} else {
			m, err = c.Comment(t.Context(), pr, id)
		}
		if mailed, mailedErr := c.Mailed(t.Context(), pr.Repo, m.ID); errors.Join(err, mailedErr) != nil || mailed != want {
			t.Errorf("by mail: %t, %v, %v; want %t", mailed, err, mailedErr, want)
		}
	}
	if _, err := c.Mailed(t.Context(), pr.Repo, pr.NodeID); !errors.Is(err, ErrNotFound) {
		t.Errorf("what is no comment: %v", err)
	}
	other := pr
	other.Number++
	if _, err := c.Comment(t.Context(), other, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("on another pull request: %v", err)
	}
}
