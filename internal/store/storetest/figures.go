package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testFigures: each finished run is added once, whoever adds at the same time; sums are of a day, a repository, or all; they outlive runs.
func testFigures(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	s := open(t, address)
	monday := time.Date(2026, 11, 16, 23, 0, 0, 0, time.UTC)
	now := monday
	b.Wall(s, func() time.Time { return now })
	finished := func(id string, at time.Time, repo string) {
		now = at
		tgt := review.Target{Base: "main"}
		if repo != "" {
			tgt = review.Target{Repo: review.Repo{Host: "github.com", Owner: "octo", Name: repo}, PR: 1}
		}
		must(t, s.CreateRun(ctx, store.Run{ID: id, ReviewID: id, Target: tgt}))
		must(t, s.FinishRun(ctx, review.RunResult{Run: id, Seconds: 2.5}))
	}
	of := func(r store.Run) store.Figures {
		return store.Figures{"all": {"": {"runs": 1, "seconds": r.Result.Seconds}}, "model": {"m": {"answers": 2}}}
	}
	const many = 520 // more than a transaction adds
	for i := range many {
		finished(fmt.Sprintf("busy-%03d", i), monday.Add(time.Duration(i)*time.Second), "busy")
	}
	finished("local", monday, "")
	finished("quiet", monday.Add(2*time.Hour), "quiet") // on Tuesday
	must(t, s.CreateRun(ctx, store.Run{ID: "unfinished", ReviewID: "u", Target: target}))

	var wg sync.WaitGroup
	for range 4 {
		other := open(t, address)
		wg.Go(func() {
			if err := other.AddUp(ctx, of); err != nil {
				t.Errorf("add up: %v", err)
			}
		})
	}
	wg.Wait()
	must(t, s.AddUp(ctx, of))
	must(t, s.Forget(ctx, "quiet"))

	began := day(monday)
	sum := func(n int) store.Figures {
		return store.Figures{"all": {"": {"runs": float64(n), "seconds": 2.5 * float64(n)}}, "model": {"m": {"answers": 2 * float64(n)}}}
	}
	tuesday := began.AddDate(0, 0, 1)
	on := func(began time.Time, repo string, n int) store.Day {
		return store.Day{Began: began, Repo: repo, Runs: n, Figures: sum(n)}
	}
	for name, row := range map[string]struct {
		over store.Over
		want []store.Day
	}{
		"all":                   {store.Over{Repos: []string{store.Everywhere}}, []store.Day{on(began, "*", many+1), on(tuesday, "*", 1)}},
		"of no repository":      {store.Over{}, nil},
		"since Tuesday":         {store.Over{Since: tuesday.Add(5 * time.Hour), Repos: []string{store.Everywhere, "octo/busy"}}, []store.Day{on(tuesday, "*", 1)}},
		"one of two":            {store.Over{Repos: []string{"octo/quiet", "octo/other"}}, []store.Day{on(tuesday, "octo/quiet", 1)}},
		"two of two, and local": {store.Over{Repos: []string{"octo/quiet", "octo/busy", ""}}, []store.Day{on(began, "", 1), on(began, "octo/busy", many), on(tuesday, "octo/quiet", 1)}},
	} {
		got, err := s.Days(ctx, row.over)
		if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for _, row := range []struct {
		since time.Time
		limit int
		want  string
	}{{time.Time{}, 10, "octo/busy octo/quiet"}, {time.Time{}, 1, "octo/busy"}, {tuesday, 10, "octo/quiet"}, {tuesday.AddDate(0, 0, 1), 10, ""}} {
		if got, err := s.Busiest(ctx, row.since, row.limit); err != nil || strings.Join(got, " ") != row.want {
			t.Errorf("the busiest %d since %s: %q, %v; want %q", row.limit, row.since, got, err, row.want)
		}
	}
}

func day(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
