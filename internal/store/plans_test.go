package store

import (
	"context"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/review"
)

// TestListsReadIndexes: no list of runs reads a table that grows as a whole, and none is sorted after it was read.
func TestListsReadIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := Mark{Created: time.Now(), ID: "20261122T000000Z_x"}
	for name, f := range map[string]Filter{
		"all": {}, "a repository": {Repo: "o/r"}, "a pull request": {Repo: "o/r", PR: 7}, "an outcome": {Outcome: review.Converged}, "a state": {State: Running},
		"the next page": {Before: before}, "the next page of a repository": {Repo: "o/r", Before: before}, "the next page of an outcome": {Outcome: review.Converged, Before: before},
		"since": {Since: time.Now()}, "a repository since": {Repo: "o/r", Since: time.Now()}, "a key": {Keys: []review.RepoKey{"github.com/5"}}, "a pull request of a key": {Keys: []review.RepoKey{"github.com/5"}, PR: 7},
		"of a name without a key": {Repo: "o/r", Keys: []review.RepoKey{""}},
	} {
		where, args := f.where()
		for _, step := range plan(t, s, `SELECT id FROM runs WHERE `+where+` ORDER BY created DESC, id DESC LIMIT 50`, args...) {
			if regexp.MustCompile(`^SCAN runs$|TEMP B-TREE`).MatchString(step) {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
}

// TestChangesOfPoliciesReadIndexes: the history of policies is read in the order of an index, of one repository and of all.
func TestChangesOfPoliciesReadIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	queries := map[string][]any{changesSince: {"github.com", 5, 7}}
	before := policy.ChangeMark{At: time.Now(), Key: "github.com/5", Version: 1, Column: "tier"}
	one := []review.RepoKey{"github.com/5"}
	for _, f := range []policy.ChangeFilter{{}, {Keys: one}, {Before: before}, {Keys: one, Before: before}} {
		rest, _, args := whereChanged(f)
		queries[rest] = args
	}
	for rest, args := range queries {
		for _, step := range plan(t, s, readChanges+rest+` LIMIT 10`, args...) {
			if !regexp.MustCompile(`USING INDEX`).MatchString(step) {
				t.Errorf("%s: %s", rest, step)
			}
		}
	}
}

// TestObservationsReadIndexes: whatever observations are looked for by, they are read in the order of an index, and so is what became of findings.
func TestObservationsReadIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := NoticedMark{At: time.Now(), Run: "20261122T000000Z_x", Ord: 1}
	one := []review.RepoKey{"github.com/5"}
	for name, f := range map[string]NoticedFilter{
		"all": {}, "a repository": {Keys: one}, "a tag": {Tag: "t"}, "a tag of a repository": {Tag: "t", Keys: one}, "a word": {Text: "lock"}, "words": {Text: "lock table", Keys: one},
		"words and a tag": {Text: "lock table", Tag: "t"}, "the next page": {Before: before}, "the next page of a repository": {Keys: one, Before: before}, "the next page of a word": {Text: "lock", Before: before},
	} {
		query, args := f.query()
		for _, step := range plan(t, s, query, args...) {
			if regexp.MustCompile(`^SCAN \w+$|TEMP B-TREE`).MatchString(step) {
				t.Errorf("%s: %s", name, step)
			}
		}
	}
	for where, args := range map[string][]any{`repo_key = $1 AND pr = $2`: {"github.com/5", 7}, `recorded >= $1 AND repo = $2 ORDER BY recorded`: {5, "o/r"}} {
		for _, step := range plan(t, s, readMerges+where, args...) {
			if regexp.MustCompile(`^SCAN`).MatchString(step) {
				t.Errorf("%s: %s", where, step)
			}
		}
	}
}

// TestWhatIsOpenReadsIndexes: what is open is found without what was ever seen to, and in its order.
func TestWhatIsOpenReadsIndexes(t *testing.T) {
	s, err := Open(t.Context(), Options{Address: filepath.Join(t.TempDir(), "prloop.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for index, where := range map[string]string{"wanted_to_queue": s.due(), "wanted_open": stillOpen + stillFirst} {
		for _, step := range plan(t, s, `SELECT subject FROM wanted WHERE `+where, 10) {
			if step != "SCAN wanted USING INDEX "+index {
				t.Errorf("%s: %s", index, step)
			}
		}
	}
}

// plan is how SQLite goes about a query.
func plan(t *testing.T, s *Store, query string, args ...any) []string {
	t.Helper()
	rows, err := s.read.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		out = append(out, detail)
	}
	if err := rows.Err(); err != nil || len(out) == 0 {
		t.Fatalf("no plan: %v", err)
	}
	return out
}
