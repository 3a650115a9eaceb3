//go:build unix

package engine_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/engine"
	"github.com/prloop/prloop/internal/engine/enginetest"
	"github.com/prloop/prloop/internal/testkit/postgres"
)

func TestMain(m *testing.M) {
	enginetest.Main()
	engine.Child()
	worker()
	status := m.Run()
	postgres.Stop()
	os.Exit(status)
}

// The suite of all kinds of databases.
func TestSuite(t *testing.T) {
	for _, kind := range []string{database.SQLite, engine.CountedKind} {
		t.Run(kind, func(t *testing.T) {
			t.Cleanup(func() { // after all of them
				if kind == engine.CountedKind && engine.Counted.Load() == 0 {
					t.Error("the suite did not use this kind of database")
				}
			})
			enginetest.Run(t, enginetest.Backend{Refuse: refuse, New: func(t *testing.T) string {
				return kind + ":" + filepath.Join(t.TempDir(), "state", "prloop.db")
			}})
		})
	}
	t.Run(database.Postgres, func(t *testing.T) {
		enginetest.Run(t, enginetest.Backend{Several: true, Refuse: refuseServer, New: func(t *testing.T) string { return postgres.New(t) + "&prloop_lease=2s" }})
	})
}

// refuse makes a file refuse that anything is over.
func refuse(t *testing.T, address string) (allow func()) {
	_, path, _ := strings.Cut(address, ":")
	db, err := sql.Open("sqlite", database.SQLiteURI(path, "_pragma=busy_timeout(10000)")) // the engine may be writing
	if err != nil {
		t.Fatal(err)
	}
	do := func(query string) {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TRIGGER refuse BEFORE UPDATE ON workflow_status WHEN NEW.status = 'SUCCESS' BEGIN SELECT RAISE(ABORT, 'no space left'); END`)
	return func() { do(`DROP TRIGGER refuse`); db.Close() }
}

// refuseServer makes a database of PostgreSQL do so.
func refuseServer(t *testing.T, address string) (allow func()) {
	postgres.SQL(t, address, `CREATE FUNCTION dbos.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$`)
	postgres.SQL(t, address, `CREATE TRIGGER refuse BEFORE UPDATE ON dbos.workflow_status FOR EACH ROW WHEN (NEW.status = 'SUCCESS') EXECUTE FUNCTION dbos.refuse()`)
	return func() { postgres.SQL(t, address, `DROP TRIGGER refuse ON dbos.workflow_status`) }
}

// A kind of database that is not there is refused with its name, not taken for a file.
func TestOtherKindsAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	handler := func(context.Context, *engine.Steps, []byte) ([]byte, error) { return nil, nil }
	for _, address := range []string{"postgres://me:secret@127.0.0.1:1/prloop", "postgres://me:sec ret%zz@db/prloop", "mysql://me:secret@db/prloop", ""} {
		_, err := engine.Open(t.Context(), engine.Options{Address: address, Handler: handler})
		_, asked := engine.Executing(address, "run")
		for _, err := range []error{err, asked} {
			if err == nil || strings.Contains(err.Error(), "sec") {
				t.Errorf("%q: %v, want that it fails without its password", address, err)
			}
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
