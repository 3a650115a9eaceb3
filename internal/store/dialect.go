package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/database"
)

// A dialect is what one kind of database does in its own way. All else is SQL that SQLite and PostgreSQL both understand: parameters
// as $1, ON CONFLICT, RETURNING.
type dialect interface {
	// String names the database in errors, without a password.
	String() string
	// open connects a pool that writes and one that reads, and calls migrate in between, while no other process changes the
	// database as a whole. It gives what it has opened also when it fails.
	open(ctx context.Context, migrate func(context.Context, *sql.DB) error) (write, read *sql.DB, err error)
	// goose is its name for goose.
	goose() goose.Dialect
	// clock is an expression for the time of the database's own clock, as a whole number of microseconds since 1970. It is the
	// time at which the statement runs, not that at which its transaction began.
	clock() string
	// shared ends a SELECT of rows that nobody may change until its transaction ends; empty where one transaction writes at a time.
	shared() string
	// processes are those that have the database open, the oldest first; nil where one machine alone can.
	processes(ctx context.Context) ([]Process, error)
	// kind is what an error means: ErrFull, ErrReadOnly, ErrBusy, ErrGone, ErrStale or a *CorruptError; nil for all others.
	kind(err error) error
	// close lets go of what open has taken beside the pools.
	close() error
}

// A Process has a database open that machines share.
type Process struct {
	// Name has the name of the machine at its beginning; only to be read by people.
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	// Runs is how many it is at work on.
	Runs int `json:"runs"`
}

// Processes are those that have the database open, the oldest first; nil where one machine alone can.
func (s *Store) Processes(ctx context.Context) ([]Process, error) {
	all, err := s.dialect.processes(ctx)
	return all, s.wrap("list processes", err)
}

// A dialect whose database is shared by the processes of one machine alone can tell at once whether a run's process lives. With
// another one, the lease of a dead process has to run out.
type liveness interface {
	// mark says that this process works as run on what key names, until the mark is closed or the process ends; ErrAlive when
	// another one does.
	mark(ctx context.Context, key, run string) (mark, error)
	// bury takes the mark of a run whose process has ended. ErrAlive when it lives, or nothing proves that it does not.
	bury(ctx context.Context, key, run string) (mark, error)
}

// A mark that is closed can be buried; one that is removed leaves nothing.
type mark interface {
	Close() error
	Remove() error
}

// ErrAlive: another process is at work as this run.
var ErrAlive = errors.New("another process works as this run")

// dialects make the dialects of all kinds of databases from what follows the kind in an address.
var dialects = map[string]func(rest string) (dialect, error){
	database.SQLite:   newSQLite,
	database.Postgres: newPostgres,
}
