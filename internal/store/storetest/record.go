package storetest

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/review"
)

func testRuns(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	began := time.Now().Truncate(time.Microsecond)
	tick := began.Add(-time.Second)
	b.Wall(s, func() time.Time { tick = tick.Add(time.Second); return tick })
	must(t, create(ctx, s, run1, run1, run2, run3)) // twice: a resumed run says it again
	got, err := s.Run(ctx, run1)
	want := store.Run{ID: run1, ReviewID: "4f1c0a9b8d7e6f50", Target: target, Head: "abc", State: store.Running, Created: began.UTC(), Updated: began.UTC()}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("created: %v\n%s", err, diff)
	}
	result := review.RunResult{Run: run2, Target: target, Outcome: review.ChangesRequested, Reason: "P1", Round: 1}
	must(t, s.FinishRun(ctx, result))
	got, err = s.Run(ctx, run2)
	if err != nil || got.State != store.Finished || got.Outcome != review.ChangesRequested || got.Result == nil || got.Result.Reason != "P1" || !got.Updated.After(got.Created) {
		t.Errorf("finished: %+v, %v", got, err)
	}
	if err := s.FinishRun(ctx, review.RunResult{Run: "unknown"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("finish an unknown run: %v", err)
	}
	for part, want := range map[string]string{
		run2: run2, "20261120T2216": run2, "99aa": run3, "6f51": run3, "20261121": run3, // whole, beginning, of the review id, end
		"20261120T221600Z_____": "", "%": "", "": "", run1 + "0": "", // no wildcards, nothing, longer than an id
	} {
		if got, err := s.Run(ctx, part); got.ID != want || (want == "") != errors.Is(err, store.ErrNotFound) {
			t.Errorf("run %q: %q, %v; want %q", part, got.ID, err, want)
		}
	}
	for part, want := range map[string]int{"20261120": 2, "4f1c": 2, "2": 3} {
		var several *store.AmbiguousError
		if _, err := s.Run(ctx, part); !errors.As(err, &several) || len(several.IDs) != want {
			t.Errorf("run %q: %v, want %d runs to be named", part, err, want)
		}
	}
	for _, row := range []struct {
		f    store.Filter
		want string
	}{
		{store.Filter{}, run3 + " " + run2 + " " + run1},
		{store.Filter{Repo: target.Repo.String(), PR: 7, State: store.Running}, run3 + " " + run1},
		{store.Filter{Repo: strings.ToUpper(target.Repo.String()), PR: 7, State: store.Running}, run3 + " " + run1},
		{store.Filter{Outcome: review.ChangesRequested}, run2},
		{store.Filter{Since: began.Add(time.Second)}, run3 + " " + run2},
		{store.Filter{Limit: 1}, run3},
		{store.Filter{Keys: []review.RepoKey{""}}, ""}, // which is none
		{store.Filter{Keys: []review.RepoKey{"github.com/5"}}, ""},
		{store.Filter{Keys: []review.RepoKey{}}, ""},
		{store.Filter{Repo: target.Repo.String(), Keys: []review.RepoKey{"", "github.com/5"}, Limit: 2}, run3 + " " + run2},
		{store.Filter{PR: 8}, ""},
	} {
		runs, err := s.ListRuns(ctx, row.f)
		var ids []string
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != row.want {
			t.Errorf("%+v: %q, %v; want %q", row.f, got, err, row.want)
		}
		ids = nil
		err = s.EachRun(ctx, row.f, func(r store.Run) error {
			if (r.State == store.Finished) != (r.Result != nil) {
				t.Errorf("%s is %s with the result %+v", r.ID, r.State, r.Result)
			}
			ids = append(ids, r.ID)
			return nil
		})
		if got := strings.Join(ids, " "); err != nil || row.f.Limit == 0 && got != row.want || row.f.Limit > 0 && len(ids) != 3 {
			t.Errorf("each of %+v: %q, %v; want %q", row.f, got, err, row.want)
		}
	}
	all, err := s.ListRuns(ctx, store.Filter{})
	must(t, err)
	page, err := s.ListRuns(ctx, store.Filter{Before: store.Mark{Created: all[0].Created, ID: all[0].ID}})
	if diff := cmp.Diff(all[1:], page); err != nil || diff != "" {
		t.Errorf("the page after the first run: %v\n%s", err, diff)
	}
	if page, err := s.ListRuns(ctx, store.Filter{Before: store.Mark{Created: all[2].Created, ID: all[2].ID}}); err != nil || len(page) > 0 {
		t.Errorf("the page after the last run: %v, %v", page, err)
	}
	local := store.Run{ID: "20261122T000000Z_local", ReviewID: "local", Target: review.Target{Base: "main"}}
	must(t, s.CreateRun(ctx, local))
	must(t, s.CreateRun(ctx, store.Run{ID: "20261122T000000Z_other", ReviewID: "other", Target: review.Target{Repo: review.Repo{Host: "github.com", Owner: "a", Name: "b"}, PR: 1}}))
	var repos []string
	list, err := s.Repositories(ctx)
	for _, r := range list {
		repos = append(repos, fmt.Sprint(r.Name, " ", r.Newest.Sub(began.UTC())))
	}
	if want := []string{"a/b 7s", target.Repo.String() + " 3s"}; err != nil || !slices.Equal(repos, want) {
		t.Errorf("repositories %q, %v; want %q", repos, err, want)
	}
	enough, n := errors.New("enough"), 0
	if err := s.EachRun(ctx, store.Filter{}, func(store.Run) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
		t.Errorf("reading goes on after an error: %d, %v", n, err)
	}
	word := string(review.RequestChanges)
	must(t, s.FinishRun(ctx, review.RunResult{Run: run1, Target: target, Outcome: review.StaticOnly, Consensus: &word}))
	if one, err := s.Run(ctx, run1); err != nil || one.Consensus == nil || *one.Consensus != word {
		t.Errorf("a run of rules alone: %+v, %v", one, err)
	}
	if list, err := s.ListRuns(ctx, store.Filter{Outcome: review.StaticOnly}); err != nil || len(list) != 1 || list[0].Consensus == nil || *list[0].Consensus != word || list[0].Result != nil {
		t.Errorf("listed runs of rules alone: %+v, %v", list, err)
	}
}

func round(n int, findings ...review.Finding) store.Round {
	tokens, cost := 1<<40, 0.25
	return store.Round{
		Run: run1, Number: n, Findings: findings,
		Verdict: review.Verdict{Consensus: review.RequestChanges, Issues: review.Counts{P1: 1}},
		Receipt: review.Receipt{HeadSHA: "abc", Agents: []review.AgentReceipt{
			{Name: "priced", Role: review.RoleReviewer, Usage: review.Usage{LLMCalls: 2, InputTokens: &tokens, CostUSD: &cost}},
			{Name: "unpriced", Role: review.RoleReviewer, Usage: review.Usage{LLMCalls: 1}},
		}},
	}
}

func testRounds(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	must(t, create(ctx, s, run1))
	line := 3
	one := review.Finding{ID: "SEC-1", Priority: review.P1, File: "a.go", Line: &line, Source: review.Source{Type: "agent", Name: "priced"}, Fingerprint: "f1"}
	two := review.Finding{ID: "SEC-2", Priority: review.P2, File: "b\n.go"}
	for _, r := range []store.Round{round(1, two), round(2), round(1, one, two)} { // the first is replaced whole
		must(t, s.SaveRound(ctx, r))
	}
	broken := round(1, one)
	broken.Receipt.Agents = append(broken.Receipt.Agents, broken.Receipt.Agents[0])
	for what, r := range map[string]store.Round{"an agent named twice": broken, "an unknown run": {Run: "unknown", Number: 1}, "round 0": round(0)} {
		if err := s.SaveRound(ctx, r); err == nil {
			t.Errorf("%s was saved", what)
		}
	}
	got, err := s.Rounds(ctx, run1)
	if diff := cmp.Diff([]store.Round{round(1, one, two), round(2)}, got, cmpopts.IgnoreFields(store.Round{}, "Saved"), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	want := store.Spent{Runs: 1, LLMCalls: 6, CostUSD: 0.5, Unpriced: 2}
	since := time.Now().Add(-time.Hour)
	if own, others, err := s.Spent(ctx, "", 0, since, run1); err != nil || own != want || others != (store.Spent{}) {
		t.Errorf("spent: %+v and %+v, %v; want %+v", own, others, err, want)
	}
	if own, others, err := s.Spent(ctx, target.Repo.String(), 7, since, run2); err != nil || own != (store.Spent{}) || others != want {
		t.Errorf("spent by others: %+v and %+v, %v; want %+v", own, others, err, want)
	}
	if own, others, err := s.Spent(ctx, "", 0, since.Add(24*time.Hour), run1); err != nil || own != (store.Spent{}) || others != (store.Spent{}) {
		t.Errorf("spent since tomorrow: %+v and %+v, %v", own, others, err)
	}
}

// testSums is what is added up or listed over runs: spending and incidents.
func testSums(t *testing.T, b Backend) {
	ctx, s := t.Context(), open(t, b.New(t))
	for _, want := range []store.Spending{{}, {LLMCalls: 1, ToolCalls: 2, Tokens: 1 << 40, CostUSD: 1234567.125}, {LLMCalls: 2, ToolCalls: 2, Tokens: 4, CostUSD: 0.25}} {
		if want != (store.Spending{}) {
			must(t, s.SaveSpending(ctx, run1, want))
		}
		if got, err := s.Spending(ctx, run1); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	for _, run := range []string{run1, run1, run2} { // said again by a resumed run it stays one
		must(t, s.Incident(ctx, run, store.IncidentSecret, "the answer of reviewer-1"))
	}
	for run, want := range map[string]int{"": 2, run1: 1, run3: 0} {
		if got, err := s.Incidents(ctx, run); err != nil || len(got) != want || want > 0 && (got[0].Run != run1 || got[0].Kind != store.IncidentSecret || time.Since(got[0].Seen).Abs() > time.Hour) {
			t.Errorf("incidents of %q: %+v, %v; want %d", run, got, err, want)
		}
	}
}

func randomKey() []byte {
	key := make([]byte, 32)
	rand.Read(key)
	return key
}

func testMarkerKey(t *testing.T, b Backend) {
	address := b.New(t)
	keys := make([][]byte, 6)
	var wg sync.WaitGroup
	for i := range keys {
		s := open(t, address)
		wg.Go(func() {
			var err error
			if keys[i], err = s.MarkerKey(t.Context(), randomKey); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if !bytes.Equal(k, keys[0]) || len(k) != 32 {
			t.Errorf("keys differ: %x", keys)
		}
	}
}

// testOlderTables: what a database of each older version holds is there when this one has opened it.
func testOlderTables(t *testing.T, b Backend) {
	ctx := t.Context()
	latest, err := b.Latest(ctx, b.New(t))
	must(t, err)
	if latest < 4 {
		t.Fatalf("the latest version is %d", latest)
	}
	for version := int64(1); version <= latest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			address := b.New(t)
			must(t, b.At(ctx, address, 1, func(db *sql.DB) error {
				for _, q := range []string{
					`INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, artifacts, created, updated)
						VALUES ('` + run1 + `', '4f1c', 'octo/demo', 7, '{}', 'abc', 'running', '', '', 1, 1)`,
					`INSERT INTO rounds (run, round, head, verdict, receipt, saved) VALUES ('` + run1 + `', 1, 'abc', '{}', '{}', 1)`,
					`INSERT INTO findings (run, round, ord, reviewer, priority, file, fingerprint, finding) VALUES ('` + run1 + `', 1, 0, 'r', 'P1', 'f', 'fp', '{"id":"A"}')`,
					`INSERT INTO meta (name, value) VALUES ('marker_key', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=')`,
					sentInTheFirstVersion,
				} {
					if _, err := db.ExecContext(ctx, q); err != nil {
						return err
					}
				}
				return nil
			}))
			if version >= 2 {
				must(t, b.At(ctx, address, 2, func(db *sql.DB) error {
					_, err := db.ExecContext(ctx, `INSERT INTO leases (lease_key, token, run, taken, expires, released) VALUES ('`+pull+`', 7, '`+run1+`', 1, 2, 0)`)
					return err
				}))
			}
			must(t, b.At(ctx, address, version, func(*sql.DB) error { return nil }))
			s := open(t, address)
			rounds, err := s.Rounds(ctx, run1)
			if err != nil || len(rounds) != 1 || len(rounds[0].Findings) != 1 || rounds[0].Findings[0].ID != "A" {
				t.Errorf("rounds: %+v, %v", rounds, err)
			}
			if got, err := s.Run(ctx, run1); err != nil || got.Head != "abc" || got.Created.UnixMicro() != 1 {
				t.Errorf("run: %+v, %v", got, err)
			}
			if key, err := s.MarkerKey(ctx, randomKey); err != nil || len(key) != 32 || key[31] != 31 {
				t.Errorf("marker key: %x, %v", key, err)
			}
			wantSent(t, s)
			l, err := s.Lease(ctx, pull, run2, time.Minute)
			if err != nil || version >= 2 && b.Token(l) != 8 {
				t.Errorf("lease: %+v, %v; want token 8", l, err)
			}
			must(t, s.SaveSpending(ctx, run1, store.Spending{Tokens: 1}))
		})
	}
}

func testNewerTables(t *testing.T, b Backend) {
	ctx, address := t.Context(), b.New(t)
	latest, err := b.Latest(ctx, address)
	must(t, err)
	must(t, b.At(ctx, address, latest, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO prloop_schema (version_id, is_applied) VALUES ($1, $2)`, latest+1, true)
		return err
	}))
	if _, err := store.Open(ctx, store.Options{Address: address}); !errors.Is(err, store.ErrNewer) {
		t.Errorf("open: %v, want ErrNewer", err)
	}
}
