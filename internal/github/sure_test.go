package github

import (
	"context"
	"errors"
	"sync/atomic"
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

// stopped is the outbox of a process that is stopped after so many looks at its right, and has lost it when it wakes.
type stopped struct {
	lost
	looks *atomic.Int32
}

func (s stopped) Ack(context.Context, string, string) error { return nil }

func (s stopped) Sure() error {
	if s.looks.Add(-1) >= 0 {
		return nil
	}
	return errLost
}

// gh goes on while the process that started it is stopped, and its request waits at the door: whenever the process wakes, it hands on nothing that
// others may have sent meanwhile.
func TestNothingPassesTheDoorUnlessSure(t *testing.T) {
	t.Parallel()
	f, p, _ := open(t)
	c := client(t, f, Options{})
	pr := readPull(t, c)
	late := 0
	for n := 0; ; n++ {
		if n > 10 {
			t.Fatal("nothing was ever sent")
		}
		texts, err := sanitize.Comment("Hello.", sanitize.Marker{Run: "r", RepoID: pr.Repo.String(), PR: pr.Number, Nonce: "00000000000000000000000000000001", Key: make([]byte, 32)}, sanitize.Policy{Repo: pr.Repo})
		if err != nil {
			t.Fatal(err)
		}
		looks := new(atomic.Int32)
		looks.Store(int32(n)) //nolint:gosec // ten at most
		d := effects.Delivery{Outbox: stopped{looks: looks}, Sleep: func(context.Context, time.Duration) error { return nil }, Overtaken: func(context.Context) (string, error) { return "", nil }}
		done, err := d.Deliver(t.Context(), effects.Comment{Poster: c, Key: make([]byte, 32), Policy: sanitize.Policy{Repo: pr.Repo}},
			effects.Effect{Key: "k", Nonce: "n", Target: review.Target{Repo: pr.Repo, PR: pr.Number}, Payload: texts[0].String(), As: review.Person{Login: "octocat"}})
		posted := len(p.Comments())
		if err == nil && done.Ref != "" && posted == 1 {
			break
		}
		if !errors.Is(err, errLost) || posted != 0 {
			t.Fatalf("lost after %d looks: %+v, %v; %d comments", n, done, err, posted)
		}
		if late = n; n > 0 && looks.Load() > 0 {
			t.Errorf("lost after %d looks, and only %d were taken", n, n-int(looks.Load()))
		}
	}
	if late < 2 {
		t.Errorf("the right was last looked at %d times: not after gh was started", late)
	}
}
