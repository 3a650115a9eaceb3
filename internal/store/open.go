package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/wallclock"
)

// Options say where the record is kept.
type Options struct {
	// Address is that of the database, the engine's too: sqlite:PATH, a path, or postgres://USER@HOST/DATABASE.
	Address string
}

// A Store is an open record. Its methods may be called from several goroutines, and several processes may have it open.
type Store struct {
	dialect dialect
	write   *sql.DB
	read    *sql.DB
	// now is this machine's clock, for what is noted down. Nothing that two processes have to agree on goes by it.
	now func() time.Time
	// elapsed is a clock that only goes forward, however this machine's is set.
	elapsed func() time.Duration
}

// Open opens or creates the record and brings its tables up to date. Errors: *CorruptError, ErrNewer, ErrFull, ErrReadOnly,
// ErrBusy, ErrGone.
func Open(ctx context.Context, o Options) (*Store, error) { return openWith(ctx, o, migrate) }

func openWith(ctx context.Context, o Options, migrate migration) (*Store, error) {
	address, err := database.Parse(o.Address, slices.Collect(maps.Keys(dialects))...)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	d, err := dialects[address.Kind](address.Rest)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	began := time.Now()
	s := &Store{dialect: d, now: wallclock.Now, elapsed: func() time.Duration { return time.Since(began) }}
	s.write, s.read, err = d.open(ctx, func(ctx context.Context, db *sql.DB) error { return migrate(ctx, d.goose(), db) })
	if err != nil {
		return nil, errors.Join(s.wrap("open store "+d.String(), err), s.Close())
	}
	return s, nil
}

// String names the database, without a password.
func (s *Store) String() string { return s.dialect.String() }

// Close lets go of the database.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	errs = append(errs, s.dialect.close())
	return errors.Join(errs...)
}
