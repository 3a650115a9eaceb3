package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/prloop/prloop/internal/filelock"
)

// counted is another kind of database: SQLite whose runs are locked in another way, by folders, and which counts them.
type counted struct{ file sqliteFile }

// CountedKind is its kind in addresses, Counted how many runs were locked.
const CountedKind = "counted"

var Counted atomic.Int64

func init() {
	dialects[CountedKind] = func(rest string) (dialect, error) {
		path, err := filepath.Abs(rest)
		return counted{sqliteFile{path}}, err
	}
}

func (d counted) String() string { return "counted " + d.file.path }

func (d counted) connect(ctx context.Context, c *dbos.Config, run bool) (func(), error) {
	return d.file.connect(ctx, c, run)
}

func (counted) close() error { return nil }

func (d counted) open(ctx context.Context, connect func() error) error {
	return d.file.open(ctx, connect)
}

func (d counted) folder(id string) string { return filepath.Join(d.file.path+".running", id) }

func (d counted) lock(ctx context.Context, id string) (release func(bool) error, err error) {
	Counted.Add(1)
	ctx, cancel := filelock.Soon(ctx)
	defer cancel()
	if err := os.MkdirAll(d.folder(id), 0o700); err != nil {
		return nil, err
	}
	l, err := filelock.Folder(ctx, d.folder(id))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, err
	}
	return func(bool) error { return l.Close() }, nil
}

func (d counted) executing(id string) (bool, error) {
	l, err := filelock.TryFolder(d.folder(id))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return true, nil
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, l.Close()
}
