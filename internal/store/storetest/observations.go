package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testObservations: observations are found by repository, tag and words, in pages, the newest first; a result that is said again replaces them,
// and who forgets a run forgets them.
func testObservations(t *testing.T, b Backend) {
	ctx := t.Context()
	s := open(t, b.New(t))
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	b.Wall(s, func() time.Time { return now })
	line := 42
	finish := func(id string, list ...review.Observation) {
		t.Helper()
		must(t, s.FinishRun(ctx, review.RunResult{Run: id, Scan: &review.Scan{Observations: list}}))
	}
	for i, repo := range []string{"shop", "web", "shop"} {
		now = now.Add(time.Minute)
		id := fmt.Sprint("run-", i)
		must(t, s.CreateRun(ctx, store.Run{ID: id, ReviewID: id, Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "acme", Name: repo}, PR: 7 + i}, RepoKey: review.RepoKey("github.com/" + repo)}))
		finish(id, review.Observation{Tag: "old", Text: "said before"})
		finish(id, review.Observation{Tag: "Migration", Text: "The table ORDERS is rewritten; that takes a lock.", File: "db/007.sql", Line: &line},
			review.Observation{Tag: "migration ", Text: fmt.Sprintf("Nothing \xff\x00 undoes it, %s %d.", "naïve", i)}, review.Observation{Tag: "tests", Text: "The lock is not tested."})
	}
	list := func(f store.NoticedFilter) string {
		t.Helper()
		got, err := s.Observations(ctx, f)
		must(t, err)
		var out []string
		for _, n := range got {
			out = append(out, fmt.Sprintf("%s/%d", strings.TrimPrefix(n.Run, "run-"), n.Ord))
		}
		return strings.Join(out, " ")
	}
	for name, row := range map[string]struct {
		f    store.NoticedFilter
		want string
	}{
		"all":                           {store.NoticedFilter{}, "2/2 2/1 2/0 1/2 1/1 1/0 0/2 0/1 0/0"},
		"a repository":                  {store.NoticedFilter{Keys: []review.RepoKey{"github.com/web"}}, "1/2 1/1 1/0"},
		"no repository":                 {store.NoticedFilter{Keys: []review.RepoKey{}}, ""},
		"a tag, whatever its case":      {store.NoticedFilter{Tag: " MIGRATION"}, "2/1 2/0 1/1 1/0 0/1 0/0"},
		"a part of a tag":               {store.NoticedFilter{Tag: "migra"}, ""},
		"a word":                        {store.NoticedFilter{Text: "Lock"}, "2/2 2/0 1/2 1/0 0/2 0/0"},
		"words of both":                 {store.NoticedFilter{Text: "orders; lock"}, "2/0 1/0 0/0"},
		"a word of the file's name":     {store.NoticedFilter{Text: "007.sql"}, "2/0 1/0 0/0"},
		"a word and a tag":              {store.NoticedFilter{Text: "lock", Tag: "tests"}, "2/2 1/2 0/2"},
		"a word in some repositories":   {store.NoticedFilter{Text: "lock", Keys: []review.RepoKey{"github.com/web", "github.com/none"}}, "1/2 1/0"},
		"letters of any language":       {store.NoticedFilter{Text: "NAÏVE 1"}, "1/1"},
		"a word that is nowhere":        {store.NoticedFilter{Text: "lock nowhere"}, ""},
		"what was said before":          {store.NoticedFilter{Text: "before"}, ""},
		"text that is no word":          {store.NoticedFilter{Text: "%_'; --"}, "2/2 2/1 2/0 1/2 1/1 1/0 0/2 0/1 0/0"},
		"the newest":                    {store.NoticedFilter{Limit: 2}, "2/2 2/1"},
		"the page after":                {store.NoticedFilter{Limit: 2, Before: store.NoticedMark{At: now, Run: "run-2", Ord: 1}}, "2/0 1/2"},
		"the page after, of a word":     {store.NoticedFilter{Text: "lock", Before: store.NoticedMark{At: now, Run: "run-2", Ord: 1}}, "2/0 1/2 1/0 0/2 0/0"},
		"the page after, of repository": {store.NoticedFilter{Keys: []review.RepoKey{"github.com/shop"}, Before: store.NoticedMark{At: now, Run: "run-2", Ord: 0}}, "0/2 0/1 0/0"},
	} {
		if got := list(row.f); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	got, err := s.Observations(ctx, store.NoticedFilter{Limit: 3})
	must(t, err)
	if n := got[2]; n.Key != "github.com/shop" || n.Repo != "acme/shop" || n.PR != 9 || !n.At.Equal(now) || n.Tag != "Migration" || n.File != "db/007.sql" || n.Line == nil || *n.Line != 42 {
		t.Errorf("%+v", n)
	}
	must(t, s.Forget(ctx, "run-2"))
	if got := list(store.NoticedFilter{Text: "lock"}); got != "1/2 1/0 0/2 0/0" {
		t.Errorf("after a run is forgotten: %q", got)
	}
}
