package app

import (
	"context"
	"testing"

	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/orchestrator"
	"github.com/prloop/prloop/review"
)

// A machine that loses the database once a run is recorded, and before the engine has it, keeps its request to itself. Another machine ends that run before
// it begins its own, so that the first does not go on with it later and report twice (threats.md T289). What cannot be read is no reason to begin anew.
func TestARunThatNobodyStoredIsOver(t *testing.T) {
	address := postgres.New(t)
	machine := func(name string) *Service { // another address is another process to the database
		s, err := Open(t.Context(), Options{State: t.TempDir(), Database: address + "&application_name=" + name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close(context.Background()) })
		return s
	}
	first, second := machine("first"), machine("second")
	pr := review.PullRequest{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: "widgets"}, RepoID: 5, Number: 7, HeadSHA: "c0ffee"}
	begin := func(run string) {
		t.Helper()
		st := stored{Request: orchestrator.Request{Run: run, ReviewID: run, Target: review.Target{Repo: pr.Repo, PR: pr.Number}, Head: pr.HeadSHA}, Engine: engine.Version, RepoID: pr.RepoID}
		if err := first.record(t.Context(), st); err != nil {
			t.Fatal(err)
		}
	}
	begin("20261123T120000.000Z_00000000000000a1")
	if run, err := first.Unfinished(t.Context(), pr); err != nil || run != "20261123T120000.000Z_00000000000000a1" {
		t.Fatalf("the machine that has it goes on with %q, %v", run, err)
	}
	if run, err := second.Unfinished(t.Context(), pr); err != nil || run != "" {
		t.Errorf("the other machine goes on with %q, %v", run, err)
	}
	if run, err := first.Unfinished(t.Context(), pr); err != nil || run != "" {
		t.Errorf("the first goes on with %q later, %v", run, err)
	}
	ended, err := second.store.Run(t.Context(), "20261123T120000.000Z_00000000000000a1")
	if err != nil || ended.State != store.Finished || ended.Result.Outcome != review.Superseded {
		t.Errorf("%+v, %v", ended, err)
	}

	begin("20261123T120100.000Z_00000000000000b2")
	lease, err := first.store.Take(t.Context(), review.Target{Repo: pr.Repo, PR: pr.Number}.String(), "20261123T120100.000Z_00000000000000b2", leaseTime)
	if err != nil {
		t.Fatal(err)
	}
	if run, err := second.Unfinished(t.Context(), pr); err != nil || run != "" {
		t.Errorf("the other machine goes on with %q, %v", run, err)
	}
	if r, err := first.store.Run(t.Context(), "20261123T120100.000Z_00000000000000b2"); err != nil || r.State != store.Running {
		t.Errorf("a run that is just beginning is over: %+v, %v", r, err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
