//go:build unix

package app

import (
	"errors"
	"testing"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// testProcess is a process's service with one run in it.
type testProcess struct{ *run }

func process(t *testing.T, state, id string) testProcess {
	t.Helper()
	s, err := Open(t.Context(), Options{State: state})
	if err != nil {
		t.Fatal(err)
	}
	p := testProcess{&run{Service: s, id: id, cancel: func(error) {}}}
	t.Cleanup(func() { s.Close(t.Context()) })
	t.Cleanup(p.end)
	return p
}

// end lets the run go.
func (p testProcess) end() { p.run.cleanup.run() }

// threats.md P10: a run that holds a pull request keeps other runs out, and other processes that would work as the same run.
func TestWhoHoldsThePullRequest(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	target := review.Target{Repo: review.Repo{Owner: "acme", Name: "widgets"}, PR: 7}
	first := process(t, state, "one")
	if lease, err := first.hold(t.Context(), orchestrator.Request{Target: target, DryRun: true}); lease != nil || err != nil {
		t.Errorf("a dry run: %v, %v", lease, err)
	}
	lease, err := first.hold(t.Context(), orchestrator.Request{Target: target})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := process(t, state, "one").hold(t.Context(), orchestrator.Request{Target: target}); !errors.Is(err, engine.ErrBusy) {
		t.Errorf("the same run in another process: %v, want %v", err, engine.ErrBusy)
	}
	var held *store.HeldError
	if _, err := process(t, state, "two").hold(t.Context(), orchestrator.Request{Target: target}); !errors.As(err, &held) || held.Run != "one" {
		t.Errorf("another run: %v, want that the first has it", err)
	}
	if err := lease.Check(t.Context()); err != nil {
		t.Errorf("the first: %v", err)
	}
	first.end()
	if _, err := process(t, state, "two").hold(t.Context(), orchestrator.Request{Target: target}); err != nil {
		t.Errorf("another run, once the first has ended: %v", err)
	}
}
