package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/prloop/prloop/internal/policy"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

var demo = policy.Repo{Host: "github.com", ID: 4711, Name: "octo/demo"}

// sample gives every column a value.
func sample() policy.Values {
	out := policy.Values{}
	for _, c := range policy.Columns() {
		switch {
		case c.Kind == policy.Bool:
			out[c.Name] = false
		case c.Kind == policy.Int:
			out[c.Name] = int64(c.High)
		case c.Kind == policy.Number:
			out[c.Name] = c.Low
		case c.Kind == policy.List && len(c.Words) > 0:
			out[c.Name] = []string{c.Words[0]}
		case c.Kind == policy.List:
			out[c.Name] = []string{"ä/**", "b, \"c\""}
		case len(c.Words) > 0:
			out[c.Name] = c.Words[len(c.Words)-1]
		default:
			out[c.Name] = "text"
		}
	}
	return out
}

// Every column comes back as it was saved; every change is kept; what is not set says nothing; a renamed repository keeps its row.
func testPolicy(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	row, err := s.Policy(ctx, demo.Host, demo.ID)
	if err != nil || row.Version != 0 || len(row.Columns) != 0 {
		t.Fatalf("no row: %+v, %v", row, err)
	}
	row.Repo, row.Columns = demo, sample()
	first, changes, err := s.SavePolicy(ctx, row, "ada")
	must(t, err)
	if first.Version != 1 || len(changes) != len(policy.Columns()) {
		t.Errorf("first: version %d, %d changes", first.Version, len(changes))
	}
	got, err := s.Policy(ctx, demo.Host, demo.ID)
	if d := cmp.Diff(first, got); err != nil || d != "" {
		t.Errorf("read: %v\n%s", err, d)
	}
	if same, changes, err := s.SavePolicy(ctx, got, "ada"); err != nil || same.Version != 1 || len(changes) != 0 {
		t.Errorf("said again: version %d, %v, %v", same.Version, changes, err)
	}
	got.Name = "octo/renamed"
	got.Columns = policy.Values{"gating_policy": "presence"}
	second, changes, err := s.SavePolicy(ctx, got, "bob")
	must(t, err)
	if second.Version != 2 || len(changes) != len(policy.Columns()) {
		t.Errorf("second: version %d, %d changes", second.Version, len(changes))
	}
	log, err := s.PolicyChanges(ctx, policy.ChangeFilter{Keys: []review.RepoKey{demo.Key()}, Limit: 1000})
	if err != nil || len(log) != 2*len(policy.Columns()) {
		t.Fatalf("log: %d, %v", len(log), err)
	}
	for _, c := range log {
		if c.Version == 2 && (c.By != "bob" || c.Name != "octo/renamed" || c.From == "" || c.At.IsZero()) || c.Version == 1 && (c.By != "ada" || c.From != "" || c.To == "") {
			t.Errorf("log: %+v", c)
		}
	}
	other := policy.Row{Repo: policy.Repo{Host: "ghe.example.com", ID: demo.ID, Name: "octo/demo"}, Columns: policy.Values{"fixing": true}}
	if _, _, err := s.SavePolicy(ctx, other, "ada"); err != nil { // the same number on another host
		t.Error(err)
	}
	all, err := s.Policies(ctx)
	if err != nil || len(all) != 2 || all[0].Host != "ghe.example.com" || all[1].Name != "octo/renamed" {
		t.Errorf("all: %+v, %v", all, err)
	}
	// Of several rows all are saved, or none is.
	stale := second
	stale.Version = 1
	stale.Columns = policy.Values{}
	fresh := policy.Row{Repo: policy.Repo{Host: "github.com", ID: 9, Name: "octo/nine"}, Columns: policy.Values{"fixing": false}}
	if _, err := s.SavePolicies(ctx, []policy.Row{fresh, stale}, "eve"); !errors.As(err, new(*policy.ConflictError)) {
		t.Errorf("several with a stale one: %v", err)
	}
	if row, err := s.Policy(ctx, "github.com", 9); err != nil || row.Version != 0 {
		t.Errorf("half saved: %+v, %v", row, err)
	}
	if _, err := s.SavePolicies(ctx, []policy.Row{fresh, second}, "eve"); err != nil {
		t.Error(err)
	}
}

// Changes are listed for the repositories that are asked for, however many others there are, page by page to the end, and those of a repository in the
// order of its versions, whatever the clock says. Those from before they had keys are among them.
func testChangesOfPolicies(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	const keys = 26 // the version that brought them
	must(t, b.At(ctx, address, keys-1, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO repo_policy_changes (host, repo_id, version, column_name, repo, changed_by, changed) VALUES ('github.com', 5, 1, 'tier', 'octo/five', 'eve', 1)`)
		return err
	}))
	s := open(t, address)
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	b.Wall(s, func() time.Time { return now })
	other := policy.Repo{Host: "github.com", ID: 9, Name: "octo/nine"}
	save := func(at policy.Repo, version int64, crew string) {
		t.Helper()
		now = now.Add(-time.Minute)
		_, _, err := s.SavePolicy(ctx, policy.Row{Repo: at, Version: version, Columns: policy.Values{"crew": crew, "tier": []string{"full", "auto"}[version%2]}}, "ada")
		must(t, err)
	}
	for v := range int64(3) {
		save(demo, v, fmt.Sprint("crew-", v))
	}
	for v := range int64(20) {
		save(other, v, fmt.Sprint("crew-", v))
	}
	for name, row := range map[string]struct {
		keys []review.RepoKey
		want int
	}{"all": {nil, 47}, "from before": {[]review.RepoKey{"github.com/5"}, 1}, "of one": {[]review.RepoKey{demo.Key()}, 6}, "of another": {[]review.RepoKey{other.Key()}, 40}, "of both": {[]review.RepoKey{other.Key(), demo.Key()}, 46}, "of none": {[]review.RepoKey{}, 0}} {
		whole, err := s.PolicyChanges(ctx, policy.ChangeFilter{Keys: row.keys})
		must(t, err)
		f := policy.ChangeFilter{Keys: row.keys, Limit: 3}
		var paged []policy.Change
		for {
			page, err := s.PolicyChanges(ctx, f)
			must(t, err)
			if len(page) == 0 {
				break
			}
			paged = append(paged, page...)
			last := page[len(page)-1]
			f.Before = policy.ChangeMark{At: last.At, Key: last.Key(), Version: last.Version, Column: last.Column}
		}
		if d := cmp.Diff(whole, paged); d != "" || len(whole) != row.want {
			t.Errorf("%s: %d changes, want %d\n%s", name, len(whole), row.want, d)
		}
		newest := map[int64]int64{}
		for _, c := range whole {
			if v, seen := newest[c.ID]; seen && c.Version > v {
				t.Errorf("%s: version %d of %s stands below version %d", name, c.Version, c.Name, v)
			}
			newest[c.ID] = c.Version
		}
	}
}

// Of two administrators who save at once one is first, and the other is told what changed.
func testTwoPoliciesAtOnce(t *testing.T, b Backend) {
	address := b.New(t)
	stores := []*store.Store{open(t, address), open(t, address)}
	for version := range int64(3) { // a new row, too
		var wg sync.WaitGroup
		errs := make([]error, len(stores))
		for i, s := range stores {
			wg.Go(func() {
				row := policy.Row{Repo: demo, Version: version, Columns: policy.Values{"max_cost_per_run_usd": float64(version + 1), "crew": fmt.Sprintf("crew-%d", i)}}
				_, _, errs[i] = s.SavePolicy(t.Context(), row, fmt.Sprintf("admin %d", i))
			})
		}
		wg.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		var conflict *policy.ConflictError
		if errs[won] != nil || !errors.As(errs[1-won], &conflict) {
			t.Fatalf("version %d: %v", version, errs)
		}
		if conflict.Have.Version != version+1 || len(conflict.Since) == 0 || conflict.Since[0].By != fmt.Sprintf("admin %d", won) {
			t.Errorf("version %d: %+v", version, conflict)
		}
	}
}
