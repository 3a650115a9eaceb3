package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

// testRepoKeys: runs stay with their repository when it is renamed, and are not those of who takes over its name. Runs and sums from before keys
// are nobody's by a key, and are found by their name alone.
func testRepoKeys(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	const renaming = 15 // the version that brought keys
	must(t, b.At(ctx, address, renaming-1, func(db *sql.DB) error {
		for _, q := range []string{
			`INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, result, artifacts, created, updated, summed)
				VALUES ('before', 'b', 'octo/shop', 7, '{"repo":{"host":"github.com","owner":"octo","name":"shop"},"pr":7}', 'abc', 'finished', '', '{}', '', 1, 1, 1)`,
			`INSERT INTO sums (repo, day, runs, figures) VALUES ('octo/shop', 0, 1, '{}'), ('*', 0, 1, '{}')`,
		} {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return err
			}
		}
		return nil
	}))
	s := open(t, address)
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	b.Wall(s, func() time.Time { return now })
	begin := func(id, name string, number int64) {
		now = now.Add(time.Hour)
		repo := review.Repo{Host: "github.com", Owner: "octo", Name: name}
		must(t, s.CreateRun(ctx, store.Run{ID: id, ReviewID: id, Target: review.Target{Repo: repo, PR: 7}, RepoKey: repo.Key(number)}))
		must(t, s.FinishRun(ctx, review.RunResult{Run: id}))
	}
	begin("first", "shop", 5)
	begin("renamed", "store", 5)
	begin("stranger", "shop", 9)
	for name, row := range map[string]struct {
		f    store.Filter
		want []string
	}{
		"by its key":                {store.Filter{Keys: []review.RepoKey{"github.com/5"}, PR: 7}, []string{"renamed", "first"}},
		"who took over the name":    {store.Filter{Keys: []review.RepoKey{"github.com/9"}}, []string{"stranger"}},
		"a key and a name":          {store.Filter{Repo: "octo/shop", Keys: []review.RepoKey{"github.com/5"}}, []string{"first"}},
		"two":                       {store.Filter{Keys: []review.RepoKey{"github.com/5", "github.com/9"}, Limit: 2}, []string{"stranger", "renamed"}},
		"no key":                    {store.Filter{Keys: []review.RepoKey{""}}, nil},
		"another host":              {store.Filter{Keys: []review.RepoKey{"ghe.example.com/5"}}, nil},
		"from before keys":          {store.Filter{Repo: "octo/shop", Keys: []review.RepoKey{""}}, []string{"before"}},
		"no key of an unknown name": {store.Filter{Repo: "octo/store", Keys: []review.RepoKey{""}}, nil},
		"the name":                  {store.Filter{Repo: "octo/shop"}, []string{"stranger", "first", "before"}},
	} {
		var got []string
		runs, err := s.ListRuns(ctx, row.f)
		for _, r := range runs {
			got = append(got, r.ID)
		}
		if err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, row.want)
		}
	}
	var got []string
	repos, err := s.Repositories(ctx)
	for _, r := range repos {
		got = append(got, fmt.Sprint(r.Key, " ", r.Name))
	}
	if want := []string{"github.com/9 octo/shop", "github.com/5 octo/store", " octo/shop"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("repositories %q, %v; want %q", got, err, want)
	}

	must(t, s.AddUp(ctx, func(store.Run) store.Figures { return store.Figures{} }))
	for name, row := range map[string]struct {
		over store.Over
		want []string
	}{
		"by its key": {store.Over{Keys: []review.RepoKey{"github.com/5"}}, []string{"octo/shop github.com/5 1", "octo/store github.com/5 1"}},
		"no key":     {store.Over{Keys: []review.RepoKey{""}}, nil},
		"none":       {store.Over{Keys: []review.RepoKey{}, Repos: []string{store.Everywhere}}, nil},
		"the name":   {store.Over{Repos: []string{"octo/shop"}}, []string{"octo/shop  1", "octo/shop github.com/5 1", "octo/shop github.com/9 1"}},
		"everywhere": {store.Over{Repos: []string{store.Everywhere}}, []string{"*  1", "*  3"}},
	} {
		var got []string
		days, err := s.Days(ctx, row.over)
		for _, d := range days {
			got = append(got, fmt.Sprint(d.Repo, " ", d.Key, " ", d.Runs))
		}
		if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
			t.Errorf("sums, %s: %v\n%s", name, err, diff)
		}
	}
}
