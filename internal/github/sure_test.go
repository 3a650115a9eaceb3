package github

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// lost is the outbox of a process that loses its right to work between its note and the call.
type lost struct{ effects.Outbox }

var errLost = errors.New("others may have what this process had")

func (lost) Intent(_ context.Context, e effects.Effect) (effects.Effect, error) { return e, nil }
func (lost) Sending(context.Context, string) error                              { return nil }
func (lost) Sure() error                                                        { return errLost }

// What is noted and not sent yet stays unsent when its process has lost its right to send it, by each of the three ways to GitHub: gh, REST and GraphQL.
func TestNothingIsSentUnlessSure(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	comment := p.Comment("octocat", "hello")
	there, err := c.CommentsSince(t.Context(), pr, time.Time{})
	if err != nil || len(there) != 1 {
		t.Fatalf("%+v, %v", there, err)
	}
	texts, err := sanitize.Comment("Hello.", sanitize.Marker{Run: "r", RepoID: pr.Repo.String(), PR: pr.Number, Nonce: "00000000000000000000000000000001", Key: make([]byte, 32)}, sanitize.Policy{Repo: pr.Repo})
	if err != nil {
		t.Fatal(err)
	}
	d := effects.Delivery{Outbox: lost{}, Sleep: func(context.Context, time.Duration) error { return nil }, Overtaken: func(context.Context) (string, error) { return "", nil }}
	for _, row := range []struct {
		kind    effects.Kind
		payload string
	}{
		{effects.Comment{Poster: c, Key: make([]byte, 32), Policy: sanitize.Policy{Repo: pr.Repo}}, texts[0].String()},
		{effects.Reaction{Reactor: c}, effects.ReactionPayload(comment, effects.Seen)},
		{effects.Minimize{Minimizer: c}, there[0].ID},
	} {
		_, err := d.Deliver(t.Context(), row.kind, effects.Effect{Key: "k", Nonce: "n", Target: review.Target{Repo: pr.Repo, PR: pr.Number}, Payload: row.payload, As: review.Person{Login: "octocat"}})
		if !errors.Is(err, errLost) {
			t.Errorf("%s: %v", row.kind.Name(), err)
		}
	}
	if all := p.Comments(); len(all) != 1 || len(all[0].Reactions) != 0 || all[0].Minimized {
		t.Errorf("something was sent: %+v", all)
	}
}
