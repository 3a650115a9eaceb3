package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/filelock"
	"github.com/prloop/prloop/internal/wallclock"
)

// sqliteFile is a record in a SQLite file, the engine's too. It is made with mode 0600, its folder with 0700.
type sqliteFile struct{ path string }

func newSQLite(rest string) (dialect, error) {
	path, err := filepath.Abs(rest)
	return sqliteFile{path}, err
}

func (f sqliteFile) String() string { return f.path }

func (sqliteFile) goose() goose.Dialect { return goose.DialectSQLite3 }

// clock is the machine's clock as Go has it, to the millisecond: where a test has its own, SQL goes by that too.
func (sqliteFile) clock() string { return "prloop_clock()" }

func init() {
	sqlite.MustRegisterScalarFunction("prloop_clock", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		return wallclock.Now().UnixMilli() * 1000, nil
	})
}

// shared is empty: a transaction that writes is alone from its beginning.
func (sqliteFile) processes(context.Context) ([]Process, error) { return nil, nil }

func (sqliteFile) shared() string { return "" }

func (sqliteFile) close() error { return nil }

const (
	// checkAlways is the size up to which a file is checked at every start; checking takes about 1.5 ms per MB.
	checkAlways = 8 << 20
	// checkUnclean is the size up to which it is checked when the last process did not close it.
	checkUnclean = 256 << 20
)

func (f sqliteFile) open(ctx context.Context, migrate func(context.Context, *sql.DB) error) (write, read *sql.DB, err error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, nil, err
	}
	alone, err := filelock.File(ctx, database.SQLiteLock(f.path))
	if err != nil {
		return nil, nil, err
	}
	defer alone.Close()
	size, err := f.make()
	if err != nil {
		return nil, nil, err
	}
	unclean := leftover(f.path + "-wal")
	// One connection: writers queue here instead of in SQLite's busy loop (libraries 2). With synchronous=FULL a commit is on disk
	// when it returns.
	write, err = f.connect(1, "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	if size <= checkAlways || unclean && size <= checkUnclean {
		if err := f.quickCheck(ctx, write); err != nil {
			return write, nil, err
		}
	}
	if err := migrate(ctx, write); err != nil {
		return write, nil, err
	}
	read, err = f.connect(4, "_pragma=query_only(1)")
	return write, read, err
}

// make makes the file unless it is there, and refuses one that is something else before SQLite touches it. Its size comes back.
func (f sqliteFile) make() (int64, error) {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) { // new, or its first page is still in the log beside it
		return 0, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	if !bytes.Equal(head[:n], []byte(magic)) {
		return 0, &CorruptError{Path: f.path, Detail: "it is not a SQLite database"}
	}
	fi, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// leftover reports whether a log was left, which the last process to close the file would have removed.
func leftover(wal string) bool {
	fi, err := os.Stat(wal)
	return err == nil && fi.Size() > 0
}

// connect opens a pool of n connections.
func (f sqliteFile) connect(n int, params string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", database.SQLiteURI(f.path, "_pragma=busy_timeout(10000)&"+params))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// quickCheck asks SQLite whether its pages hang together.
func (f sqliteFile) quickCheck(ctx context.Context, db *sql.DB) error {
	var answer string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return &CorruptError{Path: f.path, Detail: answer}
	}
	return nil
}

func (f sqliteFile) kind(err error) error {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		switch {
		case errors.Is(err, syscall.ENOSPC):
			return ErrFull
		case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
			return ErrReadOnly
		}
		return nil
	}
	switch code := se.Code(); {
	case code&0xff == sqlite3.SQLITE_CORRUPT || code&0xff == sqlite3.SQLITE_NOTADB:
		return &CorruptError{Path: f.path, Detail: se.Error()}
	case code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_WRITE:
		return ErrFull
	case code&0xff == sqlite3.SQLITE_READONLY:
		return ErrReadOnly
	case code&0xff == sqlite3.SQLITE_BUSY || code&0xff == sqlite3.SQLITE_LOCKED:
		return ErrBusy
	}
	return nil
}

// marked is the folder that is locked for as long as a process works as run on what key names.
func (f sqliteFile) marked(key, run string) string {
	sum := sha256.Sum256([]byte(key + "\n" + run))
	return filepath.Join(filepath.Dir(f.path), "leases", hex.EncodeToString(sum[:8]))
}

func (f sqliteFile) mark(ctx context.Context, key, run string) (mark, error) {
	for { // whoever had it may be removing it
		dir := f.marked(key, run)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if l, err := lockMark(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			return l, err
		}
	}
}

func (f sqliteFile) bury(ctx context.Context, key, run string) (mark, error) {
	if !filelock.Folders {
		return nil, ErrAlive
	}
	l, err := lockMark(ctx, f.marked(key, run))
	if errors.Is(err, fs.ErrNotExist) { // without a mark nothing proves it
		err = ErrAlive
	}
	return l, err
}

// lockMark locks a folder, or gives ErrAlive if somebody has it for longer than a killed process may.
func lockMark(ctx context.Context, dir string) (mark, error) {
	ctx, cancel := filelock.Soon(ctx)
	defer cancel()
	l, err := filelock.Folder(ctx, dir)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: %w", ErrAlive, err)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}
