package storetest

import (
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
)

// testBacklog: what is open is counted by its priority, and what is over is not.
func testBacklog(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	f, err := s.Backlog(ctx)
	must(t, err)
	if len(f.Waiting) != 0 || f.Oldest != 0 || f.Leases != 0 {
		t.Errorf("at first: %+v", f)
	}
	for pr, priority := range map[int]uint{1: 2, 2: 2, 3: 4, 4: 4} {
		must(t, s.Want(ctx, store.Want{Subject: store.Subject("github.com/octo/demo", pr, 0), Repo: "github.com/octo/demo", PR: pr, Priority: priority}))
	}
	must(t, s.Settle(ctx, store.Subject("github.com/octo/demo", 4, 0), 1, store.Settled{Outcome: "nothing"}))
	lease, err := s.Take(ctx, "octo/demo#1", "run-1", time.Minute)
	must(t, err)
	if f, err = s.Backlog(ctx); err != nil || f.Waiting[2] != 2 || f.Waiting[4] != 1 || len(f.Waiting) != 2 || f.Oldest < 0 || f.Oldest > time.Hour || f.Leases != 1 {
		t.Errorf("with three that wait: %+v, %v", f, err)
	}
	must(t, lease.Release(ctx))
	if f, err = s.Backlog(ctx); err != nil || f.Leases != 0 {
		t.Errorf("after the lease: %+v, %v", f, err)
	}
}
