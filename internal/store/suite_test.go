//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/store"
	"github.com/prloop/prloop/internal/store/storetest"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

var hooks = storetest.Hooks{
	Wall:   func(s *store.Store, now func() time.Time) { s.SetWall(now) },
	Token:  (*store.Lease).Token,
	Tx:     func(ctx context.Context, s *store.Store, f func(*sql.Tx) error) error { return s.Tx(ctx, f) },
	Latest: store.Latest,
	At:     store.At,
}

func TestMain(m *testing.M) {
	storetest.Main(hooks)
	store.Child()
	status := m.Run()
	postgres.Stop()
	os.Exit(status)
}

// The suite of all kinds of databases.
func TestSuite(t *testing.T) {
	for _, row := range []struct {
		kind  string
		tells bool
	}{{database.SQLite, true}, {store.CountedKind, false}} {
		t.Run(row.kind, func(t *testing.T) {
			t.Cleanup(func() { // after all of them
				if row.kind == store.CountedKind && store.Counted.Load() == 0 {
					t.Error("the suite did not use this kind of database")
				}
			})
			storetest.Run(t, storetest.Backend{Hooks: hooks, TellsTheDead: row.tells, New: func(t *testing.T) string {
				return row.kind + ":" + filepath.Join(t.TempDir(), "state", "prloop.db")
			}})
		})
	}
	t.Run(database.Postgres, func(t *testing.T) {
		storetest.Run(t, storetest.Backend{Hooks: hooks, New: func(t *testing.T) string { return postgres.New(t) }})
	})
}

// A kind of database that is not there is refused with its name, not taken for a file.
func TestOtherKindsAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, address := range []string{"postgres://me:secret@db.invalid/prloop", "postgres://me:sec ret%zz@db/prloop", "postgres://me:secret@db/prloop?prloop_lease=1h",
		"postgres://me:secret@127.0.0.1:1/prloop", "mysql://me:secret@db/prloop", ""} {
		_, err := store.Open(t.Context(), store.Options{Address: address})
		if err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("%q: %v, want that it fails without its password", address, err)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
