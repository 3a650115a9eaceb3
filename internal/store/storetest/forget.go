package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testForgettable: whether a success still holds when a pull request gets another base branch is told by the run that said it, which stays until a
// server has seen the merge (threats.md T280).
func testForgettable(t *testing.T, b Backend) {
	s, ctx := open(t, b.New(t)), t.Context()
	const key = review.RepoKey("github.com/5")
	for id, of := range map[string]struct {
		pr   int
		kind string
	}{"said": {7, "status"}, "silent": {7, "comment"}, "beside": {8, "status"}} {
		target := review.Target{Repo: target.Repo, PR: of.pr}
		must(t, s.CreateRun(ctx, store.Run{ID: id, Target: target, RepoKey: key}))
		_, err := s.Intent(ctx, effects.Effect{Kind: of.kind, Key: id, Nonce: id, Run: id, Target: target})
		must(t, err)
		must(t, s.FinishRun(ctx, review.RunResult{Run: id, Outcome: review.Converged}))
	}
	w := store.Want{Subject: store.Subject("github.com/octo/demo", 7, 0), Repo: "github.com/octo/demo", PR: 7, Key: key}
	before := store.Want{Subject: store.Subject("github.com/octo/old", 7, 0), Repo: "github.com/octo/old", PR: 7, Key: key} // the name it had
	must(t, s.Want(ctx, before))
	must(t, s.Settle(ctx, before.Subject, 1, store.Settled{Seen: "CLOSED abc false [] main\n"}))
	for i, c := range []struct {
		seen string
		want []string
	}{
		{"OPEN abc false [] main\n", []string{"beside", "silent"}},
		{"CLOSED abc false [] main\n", []string{"beside", "silent"}},
		{"MERGED abc false [] main\n", []string{"beside", "said", "silent"}},
	} {
		must(t, s.Want(ctx, w))
		must(t, s.Settle(ctx, w.Subject, int64(i+1), store.Settled{Seen: c.seen}))
		got, err := s.Forgettable(ctx, time.Now().Add(time.Hour), 0)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v; want %v", c.seen, got, err, c.want)
		}
	}
}
