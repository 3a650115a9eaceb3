package effects_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
	"github.com/prloop/prloop/sanitize"
)

// A sleeper is the outbox of a process that is stopped once it has noted that it is about to send, for so long that others go on.
type sleeper struct {
	effects.Outbox
	lost error
	// asleep is what happens meanwhile.
	asleep func()
}

var errLostRight = errors.New("others may have what this process had")

func (s *sleeper) Sure() error { return s.lost }

func (s *sleeper) Sending(ctx context.Context, nonce string) error {
	err := s.Outbox.Sending(ctx, nonce)
	if s.asleep != nil {
		s.lost = errLostRight
		s.asleep()
	}
	return err
}

// freely is a store that asks for no lease.
type freely struct{ *store.Store }

func (f freely) Sure() error { return nil }

func (f freely) Sending(ctx context.Context, nonce string) error { return f.Store.Sending(ctx, nonce) }

// asks is comments whose API asks before the call, as GitHub's client does.
type asks struct{ comments }

func (a asks) Post(ctx context.Context, pr review.PullRequest, body sanitize.Text) (string, error) {
	if err := effects.Sure(ctx); err != nil {
		return "", effects.NotSent(err)
	}
	return a.comments.Post(ctx, pr, body)
}

// A process that slept between its note and its call sends nothing and records nothing: whoever went on has sent it, or is about to. Neither does one that
// slept while it looked for what it had sent.
func TestSleepersSendNothing(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := &github{now: time.Unix(1_800_000_000, 0), viewer: bot}
	row := rows["comment"]
	kind := effects.Comment{Poster: asks{comments{g}}, Key: key, Policy: sanitize.Policy{Repo: repo}, Sleep: g.sleep}
	delivery := func(o effects.Outbox) effects.Delivery {
		return effects.Delivery{Outbox: o, Sleep: g.sleep, Overtaken: func(context.Context) (string, error) { return "", nil }}
	}
	effect := func(n int) effects.Effect {
		e := row.effect(n)
		e.Run, e.As = effects.NoRun, bot
		return e
	}
	e := effect(1)
	var other effects.Done
	first := &sleeper{Outbox: freely{s}, asleep: func() {
		var err error
		if other, err = delivery(freely{s}).Deliver(t.Context(), kind, e); err != nil {
			t.Error(err)
		}
	}}
	if done, err := delivery(first).Deliver(t.Context(), kind, e); !errors.Is(err, errLostRight) || done.Ref != "" {
		t.Errorf("%+v, %v", done, err)
	}
	if g.calls != 1 || other.Ref == "" {
		t.Errorf("%d calls, %+v", g.calls, other)
	}
	if done, err := delivery(freely{s}).Deliver(t.Context(), kind, e); err != nil || done.Ref != other.Ref || g.calls != 1 {
		t.Errorf("once more: %+v, %v; %d calls", done, err, g.calls)
	}

	// Sent by a process that is no more, and looked for by one that sleeps meanwhile.
	e = effect(2)
	e.Kind = kind.Name()
	if _, err := s.Intent(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := s.Sending(t.Context(), e.Nonce); err != nil {
		t.Fatal(err)
	}
	second := &sleeper{Outbox: freely{s}, lost: errLostRight}
	if _, err := delivery(second).Deliver(t.Context(), kind, e); !errors.Is(err, errLostRight) || g.calls != 1 {
		t.Errorf("%v, %d calls", err, g.calls)
	}
	if kept, err := s.Intent(t.Context(), e); err != nil || kept.SentAt.IsZero() {
		t.Errorf("it says that it may be sent again: %+v, %v", kept, err)
	}
}
