package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testMerges: a merge is kept once, with its figures, whoever records it at the same time, and pull requests are listed until theirs is.
func testMerges(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	const demo = review.RepoKey("github.com/5")
	s := open(t, address)
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	b.Wall(s, func() time.Time { return now })
	for i, pr := range []int{7, 8, 7, 0} {
		now = now.Add(time.Minute)
		tgt := review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: "demo"}, PR: pr}
		if pr == 0 {
			tgt = review.Target{Base: "main"}
		}
		id := fmt.Sprint("run-", i)
		must(t, s.CreateRun(ctx, store.Run{ID: id, ReviewID: id, Target: tgt, RepoKey: map[bool]review.RepoKey{true: demo}[pr > 0]}))
		must(t, s.FinishRun(ctx, review.RunResult{Run: id, Target: tgt}))
	}
	unmerged := func(f store.Filter) string {
		t.Helper()
		list, err := s.Unmerged(ctx, f)
		must(t, err)
		var names []string
		for _, x := range list {
			names = append(names, x.String())
		}
		return strings.Join(names, " ")
	}
	for _, row := range []struct {
		f    store.Filter
		want string
	}{
		{store.Filter{Limit: 10}, "octo/demo#7 octo/demo#8"}, {store.Filter{Limit: 1}, "octo/demo#7"}, {store.Filter{Repo: "octo/other", Limit: 10}, ""},
		{store.Filter{Since: now.Add(-90 * time.Second), Limit: 10}, "octo/demo#7"},
	} {
		if got := unmerged(row.f); got != row.want {
			t.Errorf("%+v: %q, want %q", row.f, got, row.want)
		}
	}
	if _, err := s.Merge(ctx, demo, 7); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a merge that is not recorded: %v", err)
	}
	m := store.Merge{Key: demo, Repo: "octo/demo", PR: 7, Head: "abc", Findings: []review.PostedFinding{{ID: "f", Run: "run-2", Became: review.BecameFixed, Priority: review.P1, Category: "bug", Score: 8, By: []review.Voice{{Name: "r"}}}}}
	figures := store.Figures{"all": {"": {"became/fixed": 1}}}
	var wg sync.WaitGroup
	var mu sync.Mutex
	firsts := 0
	for range 4 {
		other := open(t, address)
		b.Wall(other, func() time.Time { return now })
		wg.Go(func() {
			first, err := other.RecordMerge(ctx, m, figures)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("record: %v", err)
			}
			if first {
				firsts++
			}
		})
	}
	wg.Wait()
	if firsts != 1 {
		t.Errorf("%d of four were the first", firsts)
	}
	m.Recorded = now
	got, err := s.Merge(ctx, demo, 7)
	if diff := cmp.Diff(m, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got := unmerged(store.Filter{Limit: 10}); got != "octo/demo#8" {
		t.Errorf("not recorded yet: %q", got)
	}
	for name, want := range map[string]int{"": 1, "octo/demo": 1, "octo/other": 0} {
		n := 0
		must(t, s.EachMerge(ctx, name, now, func(store.Merge) error { n++; return nil }))
		if n != want {
			t.Errorf("merges of %q: %d, want %d", name, n, want)
		}
	}
	must(t, s.EachMerge(ctx, "", now.Add(time.Second), func(m store.Merge) error { return fmt.Errorf("%v is older", m) }))
	days, err := s.Days(ctx, store.Over{Repos: []string{store.Everywhere, "octo/demo"}})
	if diff := cmp.Diff([]store.Day{{Began: day(now), Repo: "*", Figures: figures}, {Began: day(now), Repo: "octo/demo", Key: demo, Figures: figures}}, days); err != nil || diff != "" {
		t.Errorf("figures: %v\n%s", err, diff)
	}
}
