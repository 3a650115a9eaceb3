package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/filelock"
)

// sqliteFile is a SQLite file. The locks of its runs stand in a folder beside it.
type sqliteFile struct{ path string }

func newSQLite(rest string) (dialect, error) {
	path, err := filepath.Abs(rest)
	return sqliteFile{path}, err
}

func (f sqliteFile) String() string { return f.path }

func (f sqliteFile) connect(_ context.Context, c *dbos.Config, _ bool) (failed func(), err error) {
	c.DatabaseURL = "sqlite:" + database.SQLiteURI(f.path, "")
	return func() {}, nil
}

func (sqliteFile) close() error { return nil }

// locks is the folder of the runs' locks.
func (f sqliteFile) locks() string { return f.path + ".locks" }

func (f sqliteFile) open(ctx context.Context, connect func() error) error {
	if err := os.MkdirAll(f.locks(), 0o700); err != nil {
		return err
	}
	// One that is there is not opened: closing it would take the locks of all its connections in this process away
	// (https://www.sqlite.org/howtocorrupt.html, 2.2).
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	file.Close()
	alone, err := filelock.File(ctx, database.SQLiteLock(f.path))
	if err != nil {
		return err
	}
	defer alone.Close()
	return connect()
}

// lock waits for as long as the lock of a process that was killed may be held.
func (f sqliteFile) lock(ctx context.Context, id string) (release func(bool) error, err error) {
	if err := os.MkdirAll(f.locks(), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := filelock.Soon(ctx)
	defer cancel()
	l, err := filelock.File(ctx, f.lockOf(id))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, err
	}
	return func(bool) error { return l.Remove() }, nil
}

func (f sqliteFile) lockOf(id string) string { return filepath.Join(f.locks(), id+".lock") }

func (f sqliteFile) executing(id string) (bool, error) { return filelock.Held(f.lockOf(id)) }
