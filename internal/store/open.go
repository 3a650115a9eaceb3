package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/prloop/prloop/internal/filelock"
)

// Options say where the record is kept.
type Options struct {
	// Path is the SQLite file, the engine's too; it is created with mode 0600, its folder with 0700.
	Path string
}

// A Store is an open record. Its methods may be called from several goroutines, and several processes may have it open.
type Store struct {
	path  string
	write *sql.DB // one connection: writers queue here instead of in SQLite's busy loop (libraries 2)
	read  *sql.DB
	now   func() time.Time
}

// checkAlways is the size up to which a file is checked at every start; checking takes about 1.5 ms per MB.
const (
	checkAlways = 8 << 20
	// checkUnclean is the size up to which it is checked when the last process did not close it.
	checkUnclean = 256 << 20
)

// Open opens or creates the record and brings its tables up to date. Errors: *CorruptError, ErrNewer, ErrFull, ErrReadOnly,
// ErrBusy.
func Open(ctx context.Context, o Options) (*Store, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, now: time.Now}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, s.wrap("open store "+path, err)
	}
	return s, nil
}

// open does everything that changes the file as a whole under a lock that the engine takes too: SQLite refuses, without
// waiting, to make a new file a WAL database while another process does, and goose has no lock on SQLite.
func (s *Store) open(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	alone, err := filelock.File(ctx, s.path+".lock")
	if err != nil {
		return err
	}
	defer alone.Close()
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	size, err := checkHeader(f, s.path)
	f.Close()
	if err != nil {
		return err
	}
	unclean := leftover(s.path + "-wal")
	if s.write, err = connect(s.path, 1, "_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate"); err != nil {
		return err
	}
	if size <= checkAlways || unclean && size <= checkUnclean {
		if err := s.quickCheck(ctx); err != nil {
			return err
		}
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	s.read, err = connect(s.path, 4, "_pragma=query_only(1)")
	return err
}

// Close lets go of the file.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// connect opens a pool of n connections. The path goes through a file URI, so that a question mark in it stays part of it.
func connect(path string, n int, params string) (*sql.DB, error) {
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(10000)&" + params}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// checkHeader refuses a file that is something else before SQLite touches it, and gives its size.
func checkHeader(f *os.File, path string) (int64, error) {
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) { // new, or its first page is still in the log beside it
		return 0, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	if !bytes.Equal(head[:n], []byte(magic)) {
		return 0, &CorruptError{Path: path, Detail: "it is not a SQLite database"}
	}
	fi, err := f.Stat()
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

// quickCheck asks SQLite whether its pages hang together.
func (s *Store) quickCheck(ctx context.Context) error {
	var answer string
	if err := s.write.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return &CorruptError{Path: s.path, Detail: answer}
	}
	return nil
}
