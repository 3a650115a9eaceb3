package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/review"
)

// Every point of the store is reached, its error comes back, and what the step did before it stays whole: the same step
// again ends well.
func TestEveryFailpointIsReached(t *testing.T) {
	broken := errors.New("broken here")
	for _, name := range failpoint.Names() {
		t.Run(name, func(t *testing.T) {
			hits := 0
			failpoint.Arm(func(at string) error {
				if at != name {
					return nil
				}
				if hits++; hits == 1 {
					return broken
				}
				return nil
			})
			defer failpoint.Arm(nil)
			err := story(t)
			if !errors.Is(err, broken) || hits == 0 {
				t.Errorf("the first time: %v", err)
			}
		})
	}
	if want := "outbox: sending"; !slices.Contains(failpoint.Names(), want) {
		t.Errorf("%q has gone", want)
	}
}

// story does each thing once, and once more when it failed.
func story(t *testing.T) error {
	path := t.TempDir() + "/prloop.db"
	s, first := Open(t.Context(), Options{Address: path})
	if first != nil {
		var err error
		if s, err = Open(t.Context(), Options{Address: path}); err != nil {
			t.Fatalf("open again: %v", err)
		}
	}
	defer s.Close()
	again := func(what string, f func() error) {
		err := f()
		if err == nil {
			return
		}
		first = err
		// What was recorded already is refused as such, which a resumed run finds out by reading.
		if err := f(); err != nil && !errors.Is(err, ErrState) {
			t.Errorf("%s again: %v", what, err)
		}
	}
	ctx := t.Context()
	again("lease", func() error { _, err := s.Lease(ctx, "k", run1, 1e9); return err })
	again("create", func() error { return s.CreateRun(ctx, Run{ID: run1, Target: target}) })
	again("intent", func() error { _, err := s.Intent(ctx, effect("n1", 1)); return err })
	again("sending", func() error { return s.Sending(ctx, "n1") })
	again("absent", func() error { return s.Absent(ctx, "n1") })
	again("ack", func() error { return s.Ack(ctx, "n1", "url") })
	again("round", func() error { return s.SaveRound(ctx, round(1)) })
	again("policy", func() error {
		_, _, err := s.SavePolicy(ctx, policy.Row{Repo: policy.Repo{Host: "github.com", ID: 5}, Columns: policy.Values{"gating_policy": "verdict"}}, "octocat")
		return err
	})
	if row, err := s.Policy(ctx, "github.com", 5); err != nil || row.Version != 1 {
		t.Errorf("policy = %+v, %v", row, err)
	}
	again("finish", func() error { return s.FinishRun(ctx, review.RunResult{Run: run1, Outcome: review.Converged}) })
	again("delivery", func() error {
		_, err := s.Deliver(ctx, Delivery{GUID: "g"}, Want{Subject: "s"})
		return err
	})
	again("settle", func() error { return s.Settle(ctx, "s", 1, Settled{Outcome: "reviewed"}) })
	if w, err := s.Wanted(ctx, "s"); err != nil || w.Open() || w.Asked != 1 {
		t.Errorf("wanted = %+v, %v", w, err)
	}
	all, err := s.Outbox(ctx, run1)
	if err != nil || len(all) != 1 || all[0].State != StateAcked {
		t.Errorf("outbox = %+v, %v", all, err)
	}
	if r, err := s.Run(ctx, run1); err != nil || r.State != Finished {
		t.Errorf("run = %+v, %v", r, err)
	}
	return first
}
