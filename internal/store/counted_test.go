package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"

	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/filelock"
)

// counted is another kind of database: SQLite behind a driver of another name, which counts statements and has its own way to write
// parameters. Its clock is nine hours off this machine's, and it cannot tell the dead from the living.
type counted struct{ file sqliteFile }

// CountedKind is its kind in addresses, Counted how many statements were made.
const CountedKind = "counted"

var Counted atomic.Int64

func init() {
	dialects[CountedKind] = func(rest string) (dialect, error) {
		path, err := filepath.Abs(rest)
		return counted{sqliteFile{path}}, err
	}
	db, err := sql.Open("sqlite", "")
	if err != nil {
		panic(err)
	}
	sql.Register(CountedKind, countedDriver{db.Driver()})
}

func (d counted) String() string { return "counted " + d.file.path }

func (counted) goose() goose.Dialect { return goose.DialectSQLite3 }

func (counted) clock() string {
	return "CAST((julianday('now', '+9 hours') - 2440587.5) * 86400000000 AS INTEGER)"
}

func (counted) shared() string { return "" }

func (counted) processes(context.Context) ([]Process, error) { return nil, nil }

func (counted) close() error { return nil }

func (d counted) kind(err error) error { return d.file.kind(err) }

func (d counted) open(ctx context.Context, migrate func(context.Context, *sql.DB) error) (write, read *sql.DB, err error) {
	if err := os.MkdirAll(filepath.Dir(d.file.path), 0o700); err != nil {
		return nil, nil, err
	}
	alone, err := filelock.File(ctx, d.file.path+".alone")
	if err != nil {
		return nil, nil, err
	}
	defer alone.Close()
	db, err := sql.Open(CountedKind, database.SQLiteURI(d.file.path, "_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_txlock=immediate"))
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1) // for both: one pool may be what a database has
	return db, db, migrate(ctx, db)
}

type countedDriver struct{ driver.Driver }

func (d countedDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return countedConn{c.(sqliteConn)}, nil
}

// sqliteConn is what database/sql asks of SQLite's connections.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type countedConn struct{ sqliteConn }

var parameter = regexp.MustCompile(`\$([0-9]+)`)

// own counts a statement and writes it as this database wants it.
func own(query string) string {
	Counted.Add(1)
	return parameter.ReplaceAllString(query, "?$1")
}

func (c countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.sqliteConn.PrepareContext(ctx, own(query))
}

func (c countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.sqliteConn.ExecContext(ctx, own(query), args)
}

func (c countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.sqliteConn.QueryContext(ctx, own(query), args)
}
