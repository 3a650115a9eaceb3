package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"
)

// What the tests outside this package set and look at.

// SetWall sets the clock of the process's machine.
func (s *Store) SetWall(now func() time.Time) { s.now = now }

// Token is the fencing token.
func (l *Lease) Token() int64 { return l.token }

// Tx does f in a transaction as this package does.
func (s *Store) Tx(ctx context.Context, f func(*sql.Tx) error) error { return s.tx(ctx, "test", f) }

// Latest is the version of our tables.
func Latest(ctx context.Context, address string) (latest int64, err error) {
	s, err := openWith(ctx, Options{Address: address}, func(ctx context.Context, d goose.Dialect, db *sql.DB) error {
		p, err := steps(d, db)
		if err == nil {
			_, latest, err = p.GetVersions(ctx)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return latest, s.Close()
}

// At brings the tables of a database to a version and calls f.
func At(ctx context.Context, address string, version int64, f func(*sql.DB) error) error {
	s, err := openWith(ctx, Options{Address: address}, func(ctx context.Context, d goose.Dialect, db *sql.DB) error {
		p, err := steps(d, db)
		if err == nil {
			_, err = p.UpTo(ctx, version)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s.write)
}
