package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/failpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

var migrating = failpoint.New("store: migrating")

// A migration brings the tables of a database up to date, or a test's to an older version.
type migration func(ctx context.Context, dialect goose.Dialect, db *sql.DB) error

// migrate is the migration to our version. goose runs each step in a transaction with the note that it was done, so a kill leaves
// the old schema or the new one (threats.md K31). The dialect keeps other processes out meanwhile.
func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB) error {
	p, err := steps(dialect, db)
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return fmt.Errorf("%w (its tables are of version %d, ours of %d)", ErrNewer, have, want)
	}
	if have == want {
		return nil
	}
	if err := migrating.Hit(); err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// steps are the migrations of a database: one for each file, which is run as a whole. goose's own reader of SQL takes megabytes for
// each of them.
func steps(dialect goose.Dialect, db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var list []*goose.Migration
	for _, name := range files {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, string(text))
			return err
		}}, nil))
	}
	return goose.NewProvider(dialect, db, nil, goose.WithGoMigrations(list...), goose.WithTableName("prloop_schema"), goose.WithLogger(goose.NopLogger()),
		goose.WithDisableGlobalRegistry(true))
}
