package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/proc"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testManyHandles: handles write at the same time, and nothing is lost.
func testManyHandles(t *testing.T, b Backend) {
	const handles, rounds = 4, 10
	ctx, address := t.Context(), b.New(t)
	var wg sync.WaitGroup
	for i := range handles {
		s := open(t, address)
		wg.Go(func() {
			id := fmt.Sprint("run-", i)
			err := create(ctx, s, id)
			for n := 1; n <= rounds && err == nil; n++ {
				nonce := fmt.Sprint(id, "-", n)
				_, err = intend(ctx, s, id, nonce, n)
				r := round(n, review.Finding{ID: nonce})
				r.Run = id
				err = errors.Join(err, s.Sending(ctx, nonce), ack(ctx, s, nonce, n), s.SaveRound(ctx, r))
			}
			if err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	wg.Wait()
	s := open(t, address)
	for i := range handles {
		id := fmt.Sprint("run-", i)
		got, err := s.Rounds(ctx, id)
		all, outErr := s.Outbox(ctx, id)
		if err != nil || outErr != nil || len(got) != rounds || len(all) != rounds {
			t.Errorf("%s: %d rounds, %d entries, %v; want %d", id, len(got), len(all), errors.Join(err, outErr), rounds)
		}
	}
}

// testManyProcessesOpen: processes make the same new database, and agree on its key (threats.md K31).
func testManyProcessesOpen(t *testing.T, b Backend) {
	address := b.New(t)
	keys := make([]string, 5)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = process(t.Context(), "key", address, "", 0, nil); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if len(keys[0]) != 65 || slices.ContainsFunc(keys, func(k string) bool { return k != keys[0] }) {
		t.Errorf("keys differ: %q", keys)
	}
}

// mustBeKilled wants that a process ended by the signal it gave itself, and by nothing else.
func mustBeKilled(t *testing.T, err error) {
	t.Helper()
	var ended *proc.ExitError
	if !errors.As(err, &ended) || ended.Signal != "killed" {
		t.Fatalf("%v, want that it was killed", err)
	}
}

func testKilledInATransaction(t *testing.T, b Backend) {
	address := b.New(t)
	_, err := process(t.Context(), "half", address, "", 0, nil)
	mustBeKilled(t, err)
	s := open(t, address)
	if rounds, err := s.Rounds(t.Context(), run1); err != nil || len(rounds) != 0 {
		t.Errorf("%d rounds, %v; want none of the half transaction", len(rounds), err)
	}
	must(t, s.SaveRound(t.Context(), round(1)))
}

// arm has a process die where it is told to.
func arm(mode, name string) {
	if mode != "point" {
		return
	}
	failpoint.Arm(func(at string) error {
		if at == name {
			return die()
		}
		return nil
	})
}

// story does each thing once. Done again after a kill, it does what is left.
func story(ctx context.Context, s *store.Store) error {
	done := func(err error) error { // what was done before is refused as such
		if errors.Is(err, store.ErrState) {
			return nil
		}
		return err
	}
	l, err := s.Lease(ctx, pull, run1, time.Minute)
	if err != nil {
		return err
	}
	if err := create(ctx, s, run1); err != nil {
		return err
	}
	if _, err := intend(ctx, s, run1, "n1", 1); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return s.Sending(ctx, "n1", l) },
		func() error { return s.Absent(ctx, "n1") },
		func() error { return ack(ctx, s, "n1", 5) },
		func() error { return s.SaveRound(ctx, round(1, review.Finding{ID: "A"})) },
		func() error {
			row, err := s.Policy(ctx, "github.com", 5)
			if err == nil && row.Version == 0 {
				row.Name = "octo/demo"
				row.Columns["gating_policy"] = "verdict"
				_, _, err = s.SavePolicy(ctx, row, "octocat")
			}
			return err
		},
		func() error { return s.FinishRun(ctx, review.RunResult{Run: run1, Outcome: review.Converged}) },
		func() error { return l.Release(ctx) },
		func() error {
			_, err := s.Deliver(ctx, store.Delivery{GUID: "g"}, store.Want{Subject: pull})
			return err
		},
		func() error { return s.Settle(ctx, pull, 1, store.Settled{Outcome: "reviewed"}) },
	} {
		if err := done(step()); err != nil {
			return err
		}
	}
	return nil
}

// testKilledAtEachPoint: a process is killed at each point of the store; the next one ends the story, with everything there once.
func testKilledAtEachPoint(t *testing.T, b Backend) {
	points := failpoint.Names()
	if len(points) < 10 {
		t.Fatalf("points: %q", points)
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			ctx, address := t.Context(), b.New(t)
			_, err := process(ctx, "point", address, point, 0, nil)
			mustBeKilled(t, err)
			s := open(t, address)
			must(t, story(ctx, s))
			all, err := s.Outbox(ctx, run1)
			rounds, roundsErr := s.Rounds(ctx, run1)
			run, runErr := s.Run(ctx, run1)
			row, rowErr := s.Policy(ctx, "github.com", 5)
			changes, changesErr := s.PolicyChanges(ctx, policy.ChangeFilter{Keys: []review.RepoKey{"github.com/5"}})
			if err := errors.Join(rowErr, changesErr); err != nil || row.Version != 1 || len(changes) != 1 || row.Columns["gating_policy"] != "verdict" {
				t.Errorf("policy %+v, changes %+v, %v", row, changes, err)
			}
			if err := errors.Join(err, roundsErr, runErr); err != nil || len(all) != 1 || all[0].State != store.StateAcked || len(rounds) != 1 ||
				len(rounds[0].Findings) != 1 || run.State != store.Finished {
				t.Errorf("outbox %+v, rounds %+v, run %+v, %v", all, rounds, run, err)
			}
		})
	}
}
