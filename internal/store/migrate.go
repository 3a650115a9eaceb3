package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/failpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

var migrating = failpoint.New("store: migrating")

// migrate brings the tables up to date. goose runs each migration in a transaction with the note that it was done, so a
// kill leaves the old schema or the new one (threats.md K31). The caller holds the lock.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.write, files, goose.WithTableName("prloop_schema"), goose.WithLogger(goose.NopLogger()),
		goose.WithDisableGlobalRegistry(true))
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
