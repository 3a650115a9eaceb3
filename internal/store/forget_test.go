package store

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// A finished run goes with all there is of it; what runs, what is kept and what counts for a budget of today stays.
func TestForget(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s, err := Open(t.Context(), Options{Address: "sqlite:" + filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.now = func() time.Time { return now }
	target := review.Target{Repo: review.Repo{Host: "github.com", Owner: "o", Name: "r"}, PR: 7}
	begin := func(id string, calls int, finished bool) {
		t.Helper()
		err := s.CreateRun(t.Context(), Run{ID: id, Target: target})
		if err == nil {
			_, err = s.Intent(t.Context(), effects.Effect{Kind: "comment", Key: id, Nonce: id, Run: id, Target: target})
		}
		if err == nil {
			err = s.SaveRound(t.Context(), Round{Run: id, Number: 1, Findings: []review.Finding{{ID: "F", Title: "x"}},
				Receipt: review.Receipt{Agents: []review.AgentReceipt{{Name: "a", Usage: review.Usage{LLMCalls: calls}}}}})
		}
		if err == nil && finished {
			err = s.FinishRun(t.Context(), review.RunResult{Run: id, Outcome: review.Converged})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	begin("old-1", 3, true)
	now = now.Add(time.Hour)
	begin("old-2", 3, false)
	now = now.Add(72 * time.Hour)
	begin("new-1", 3, true)
	begin("new-2", 0, true)
	for _, c := range []struct {
		before time.Time
		keep   int
		want   []string
	}{
		{now.Add(time.Hour), 0, []string{"new-2", "old-1"}},
		{now.Add(time.Hour), 2, []string{"old-1"}},
		{now.Add(time.Hour), 4, nil},
		{now.Add(-72*time.Hour - time.Minute), 0, []string{"old-1"}},
		{now.Add(-90 * time.Hour), 0, nil},
	} {
		got, err := s.Forgettable(t.Context(), c.before, c.keep)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("before %v, keep %d: %v, %v; want %v", c.before, c.keep, got, err, c.want)
		}
	}
	for _, id := range []string{"old-1", "old-2"} {
		if err := s.Forget(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"rounds", "findings", "usage", "effects"} {
		var gone, stay int
		if err := s.read.QueryRowContext(t.Context(), `SELECT coalesce(sum(run = 'old-1'), 0), coalesce(sum(run = 'old-2'), 0) FROM `+table).Scan(&gone, &stay); err != nil || gone != 0 || stay == 0 {
			t.Errorf("%s: %d of the forgotten run, %d of the unfinished one, %v", table, gone, stay, err)
		}
	}
	if runs, err := s.ListRuns(t.Context(), Filter{}); err != nil || len(runs) != 3 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}
