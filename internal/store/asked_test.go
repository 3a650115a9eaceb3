package store

import (
	"context"
	"errors"
	"testing"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// What a comment asks for is recorded once, with the run that answers it.
func TestAsk(t *testing.T) {
	s := open(t, t.TempDir()+"/prloop.db")
	ctx := context.Background()
	if run, err := s.Asked(ctx, "a"); run != "" || err != nil {
		t.Errorf("%q, %v before it was recorded", run, err)
	}
	if run, first, err := s.Ask(ctx, "a", "run-1"); run != "run-1" || !first || err != nil {
		t.Errorf("%q, %v, %v", run, first, err)
	}
	if run, first, err := s.Ask(ctx, "a", "run-2"); run != "run-1" || first || err != nil {
		t.Errorf("%q, %v, %v the second time", run, first, err)
	}
	if run, err := s.Asked(ctx, "a"); run != "run-1" || err != nil {
		t.Errorf("%q, %v", run, err)
	}
}

// An effect of no run is kept as any other.
func TestEffectOfNoRun(t *testing.T) {
	s := open(t, t.TempDir()+"/prloop.db")
	ctx := context.Background()
	e := effects.Effect{Kind: "reaction", Key: "github.com/5/eyes", Nonce: "n1", Run: effects.NoRun, Payload: "5 eyes", Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, PR: 7}}
	if got, err := s.Intent(ctx, e); err != nil || got.Run != effects.NoRun || got.Payload != e.Payload {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := s.Sending(ctx, "n1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ack(ctx, "n1", "added 17"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Intent(ctx, e); err != nil || got.Ref != "added 17" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A run and what it answers are recorded together, and only one run answers.
func TestCreateAnswering(t *testing.T) {
	s := open(t, t.TempDir()+"/prloop.db")
	ctx := context.Background()
	create := func(id string) error {
		return s.CreateAnswering(ctx, Run{ID: id, Target: target}, "a")
	}
	if err := create("run-1"); err != nil {
		t.Fatal(err)
	}
	if err := create("run-1"); err != nil {
		t.Errorf("the same again: %v", err)
	}
	var answered *AnsweredError
	if err := create("run-2"); !errors.As(err, &answered) || answered.Run != "run-1" {
		t.Errorf("a second run: %v", err)
	}
	if _, err := s.Run(ctx, "run-2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the second run is recorded: %v", err)
	}
	if run, err := s.Asked(ctx, "a"); run != "run-1" || err != nil {
		t.Errorf("%q, %v", run, err)
	}
}
