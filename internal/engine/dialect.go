package engine

import (
	"context"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/prloop/prloop/internal/database"
)

// A dialect is what one kind of database does in its own way, beside what DBOS does.
type dialect interface {
	// String names the database in errors, without a password.
	String() string
	// connect says in a configuration how DBOS connects, for one run or else to look things up. failed is called when DBOS did not
	// take it.
	connect(ctx context.Context, c *dbos.Config, run bool) (failed func(), err error)
	// open makes the database if need be and calls connect, with which DBOS brings its tables up to date, while no other process
	// changes the database as a whole.
	open(ctx context.Context, connect func() error) error
	// lock makes this process the one that executes a run until the lock is released or the process ends; ErrBusy when another
	// does, or another call. On release err says what is left of the lock; a run that is handed over is one of the orphans.
	lock(ctx context.Context, id string) (release func(handOver bool) error, err error)
	// executing reports whether a process has the lock of a run. It takes nothing, and needs no open.
	executing(id string) (bool, error)
	// close lets go of what open has taken.
	close() error
}

// A dialect whose database processes on several machines share knows which of them live.
type shared interface {
	// gone ends when this process may write nothing any more.
	gone() context.Context
	// orphans are the runs of processes that are no more, and those that were handed over.
	orphans(ctx context.Context) ([]string, error)
	// process names this process, living all that are not silent; whoever is not among them writes nothing any more.
	process() string
	living(ctx context.Context) ([]string, error)
}

// dialects make the dialects of all kinds of databases from what follows the kind in an address.
var dialects = map[string]func(rest string) (dialect, error){
	database.SQLite:   newSQLite,
	database.Postgres: newPostgres,
}
