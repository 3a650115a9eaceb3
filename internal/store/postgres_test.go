//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/testkit/eventually"
	"github.com/prloop/prloop/internal/testkit/postgres"
	"github.com/prloop/prloop/review"
)

func openAt(t *testing.T, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The processes that have a database open are listed with how many runs they have.
func TestProcesses(t *testing.T) {
	s := openAt(t, postgres.New(t))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Processes(t.Context())
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Name, host) || all[0].Runs != 0 || time.Since(all[0].Began).Abs() > time.Hour {
		t.Errorf("got %+v, %v", all, err)
	}
}

// threats.md T195: a process that others have buried writes no row of any table any more, whatever it believes of its lease.
func TestBuriedProcessWritesNothing(t *testing.T) {
	ctx, address := t.Context(), postgres.New(t)
	s := openAt(t, address)
	const run = "run-1"
	effect := effects.Effect{Kind: "test", Key: "1", Nonce: "n1", Run: run, Payload: "x"}
	l, err := s.Lease(ctx, "pull", run, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, intended := s.Intent(ctx, effect)
	if err := errors.Join(s.CreateRun(ctx, store.Run{ID: run}), l.Check(ctx)); err != nil || intended == nil {
		t.Fatal(err, intended) // an effect of a run needs the run
	}
	if _, err := s.Intent(ctx, effect); err != nil {
		t.Fatal(err)
	}
	dump := func() string {
		var all []string
		for _, table := range strings.Fields("runs rounds findings usage effects spending incidents meta leases asked") {
			all = append(all, postgres.SQL(t, address, "SELECT '"+table+"', t.* FROM prloop."+table+" t ORDER BY t"))
		}
		return strings.Join(all, "\n")
	}
	before := dump()
	if fenced := postgres.SQL(t, address, `SELECT count(*) FROM pg_trigger WHERE tgname = 'prloop_fence'`); fenced == "0" {
		t.Fatal("no table has the trigger")
	}
	postgres.SQL(t, address, "DELETE FROM prloop.processes")
	for what, do := range map[string]func() error{
		"create run": func() error { return s.CreateRun(ctx, store.Run{ID: "run-2"}) },
		"finish run": func() error { return s.FinishRun(ctx, review.RunResult{Run: run}) },
		"save round": func() error { return s.SaveRound(ctx, store.Round{Run: run, Number: 1}) },
		"intent": func() error {
			_, err := s.Intent(ctx, effects.Effect{Kind: "test", Key: "2", Nonce: "n2", Run: run})
			return err
		},
		"sending":  func() error { return s.Sending(ctx, "n1", l) },
		"spending": func() error { return s.SaveSpending(ctx, run, store.Spending{Tokens: 1}) },
		"incident": func() error { return s.Incident(ctx, run, store.IncidentSecret, "x") },
		"ask":      func() error { _, _, err := s.Ask(ctx, "comment", run); return err },
		"lease":    func() error { _, err := s.Lease(ctx, "other", run, time.Hour); return err },
		"renew":    func() error { return l.Renew(ctx) },
		"release":  func() error { return l.Release(ctx) },
	} {
		if err := do(); !errors.Is(err, store.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", what, err)
		}
	}
	if after := dump(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got, err := s.Run(ctx, run); err != nil || got.ID != run { // reading harms nobody
		t.Errorf("run: %+v, %v", got, err)
	}
	s.Close()
	if err := openAt(t, address).CreateRun(ctx, store.Run{ID: "run-2"}); err != nil {
		t.Errorf("opened anew: %v", err)
	}
}

// A database that may not be written, that is locked, that is gone and that comes back is named as what it is, and nothing that was
// acknowledged is lost.
func TestPostgresFaults(t *testing.T) {
	server, err := postgres.Start(t.Context())
	if errors.As(err, new(postgres.NotInstalledError)) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, address := t.Context(), server.Database(t)+"&lock_timeout=100ms"
	name := strings.TrimPrefix(strings.SplitN(address, "?", 2)[0], "postgres:///")
	s := openAt(t, address)
	if err := s.CreateRun(ctx, store.Run{ID: "run-1"}); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, want, err error) {
		t.Helper()
		if !errors.Is(err, want) || !strings.Contains(err.Error(), want.Error()) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}

	other := openAt(t, address)
	if err := other.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "LOCK TABLE runs")
		refused("another has the table", store.ErrBusy, s.CreateRun(ctx, store.Run{ID: "run-2"}))
		return err
	}); err != nil {
		t.Fatal(err)
	}

	server.SQL(t, "postgres", "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	server.SQL(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
	_, err = store.Open(ctx, store.Options{Address: address + "&application_name=reader"})
	refused("a read-only database", store.ErrReadOnly, err)
	server.SQL(t, "postgres", "ALTER DATABASE "+name+" RESET default_transaction_read_only")

	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	refused("a server that was killed", store.ErrGone, s.CreateRun(ctx, store.Run{ID: "run-3"}))
	_, err = store.Open(ctx, store.Options{Address: address + "&application_name=late"})
	refused("opening then", store.ErrGone, err)
	if err := server.Up(ctx); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the store to work again", func() bool { return s.CreateRun(ctx, store.Run{ID: "run-4"}) == nil })
	if got, err := s.Run(ctx, "run-1"); err != nil || got.ID != "run-1" {
		t.Errorf("what was acknowledged: %+v, %v", got, err)
	}
	server.SQL(t, "postgres", "DROP DATABASE "+name+" WITH (FORCE)")
	refused("a database that was dropped", store.ErrGone, s.CreateRun(ctx, store.Run{ID: "run-5"}))
}

// What may be forgotten is found in a large database: no list that does not fit into PostgreSQL's memory for one step, which is little here, is read once
// for each run.
func TestForgettableOfMany(t *testing.T) {
	address := postgres.New(t)
	postgres.SQL(t, address, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = ''64kB''', current_database()); END $$`)
	s := openAt(t, address)
	postgres.SQL(t, address, `SET search_path = prloop;
		INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, result, artifacts, created, updated, repo_key)
			SELECT 'r' || i, 'x', 'github.com/o/r', i, 't', 'h', 'finished', 'converged', '{}', '/nowhere', i, i, 'github.com/5' FROM generate_series(1, 30000) i;
		INSERT INTO wanted (subject, repo, pr, comment, priority, asked, queued, handled, since, due, tries, outcome, why, run, seen, updated, repo_key)
			SELECT 's' || i, 'github.com/o/r', i, 0, 1, 1, 1, 1, 1, 1, 0, 'converged', '', 'r' || i, 'OPEN x', 1, 'github.com/5' FROM generate_series(1, 30000) i;
		INSERT INTO effects (nonce, kind, effect_key, run, target, head, payload, payload_hash, state, attempts, created, ref)
			SELECT 'n' || i, 'status', i, 'r' || i, 't', 'h', '{}', 'h', 'acked', 1, 1, '' FROM generate_series(1, 20000) i;
		ANALYZE`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if ids, err := s.Forgettable(ctx, time.Now(), 1000); err != nil || len(ids) != 9000 {
		t.Errorf("%d runs, %v; want those that set no status, without the newest", len(ids), err)
	}
}
