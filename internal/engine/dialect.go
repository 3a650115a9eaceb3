package engine

import (
	"context"

	"github.com/prloop/prloop/internal/database"
)

// A dialect is what one kind of database does in its own way, beside what DBOS does.
type dialect interface {
	// String names the database in errors, without a password.
	String() string
	// url is the address DBOS connects to.
	url() string
	// open makes the database if need be and calls connect, with which DBOS brings its tables up to date, while no other process
	// changes the database as a whole.
	open(ctx context.Context, connect func() error) error
	// lock makes this process the one that executes a run until the lock is released or the process ends; ErrBusy when another
	// does, or another call. On release err says what is left of the lock.
	lock(ctx context.Context, id string) (release func() error, err error)
	// executing reports whether a process has the lock of a run. It takes nothing and connects to nothing.
	executing(id string) (bool, error)
}

// dialects make the dialects of all kinds of databases from what follows the kind in an address.
var dialects = map[string]func(rest string) (dialect, error){
	database.SQLite: newSQLite,
}
