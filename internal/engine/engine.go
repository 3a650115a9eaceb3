package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // the SQLite driver DBOS looks up
	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/filelock"
)

// Version names the order of a run's steps and the shapes they are stored in. It is raised only when a run started by an
// older prloop could not be continued by this one; work of another version is never picked up (libraries 1, trap 1).
const Version = "5"

const (
	appName = "prloop"
	// kind is the name the one workflow is registered by.
	kind = "run"
	// locksSuffix makes the name of the folder of the runs' locks from that of the database.
	locksSuffix = ".locks"

	defaultGrace = 15 * time.Second
	// keepFinished is how long the steps of a finished run are kept; DBOS deletes nothing by itself (trap 7). What a run
	// ended with is kept by the store and the artifacts.
	keepFinished = 30 * 24 * time.Hour
)

// A Handler is what a run does. It must do the same steps in the same order each time it is called with the same input
// and the same step results: everything with a clock, a network, files or randomness goes into a step. ctx ends when the
// caller's context ends; the handler then returns, and its result is dropped. An error it returns, other than one marked
// with Halt, ends the run as failed.
type Handler func(ctx context.Context, s *Steps, input []byte) ([]byte, error)

// Options say where runs are kept and what they do.
type Options struct {
	// Path is the SQLite file; it is created with mode 0600, its folder with 0700. Run locks stand in a folder beside it.
	Path string
	// Handler does a run; it must be set.
	Handler Handler
	// Grace is how long an interrupted run may take to unwind; 0 means 15 seconds (threats.md T100).
	Grace time.Duration
	// Log hears of the engine; nil for nobody.
	Log hclog.Logger
}

// An Engine keeps runs. Its methods may be called from several goroutines.
type Engine struct {
	opts   Options
	log    hclog.Logger
	locks  string
	client dbos.Context // never launched: it reads, and runs nothing

	mu     sync.Mutex
	closed bool
	live   map[string]context.CancelCauseFunc
	wg     sync.WaitGroup
}

// Open opens or creates the database. It resumes nothing.
func Open(ctx context.Context, o Options) (*Engine, error) {
	// These would silently change what Open promises: the version, the executor id, or a connection to DBOS's service.
	for _, name := range []string{"DBOS__APPVERSION", "DBOS__VMID", "DBOS__CLOUD"} {
		if os.Getenv(name) != "" {
			return nil, fmt.Errorf("open engine: environment variable %s is set, which changes whose runs are executed: unset it", name)
		}
	}
	if o.Handler == nil {
		return nil, errors.New("open engine: it has no handler")
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	o.Path = path
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	e := &Engine{opts: o, log: o.Log, locks: path + locksSuffix, live: map[string]context.CancelCauseFunc{}}
	if err := e.prepare(ctx); err != nil {
		return nil, fmt.Errorf("open engine %s: %w", path, err)
	}
	return e, nil
}

// prepare creates the file and brings its tables up to date, one process at a time: DBOS's own migration has no lock, and
// SQLite refuses, without waiting, to make a new file a WAL database while another process does. The store takes the same
// lock for the same reasons; its file stays.
func (e *Engine) prepare(ctx context.Context) error {
	if err := os.MkdirAll(e.locks, 0o700); err != nil {
		return err
	}
	// One that is there is not opened: closing it would take the locks of all its connections in this process away
	// (https://www.sqlite.org/howtocorrupt.html, 2.2).
	f, err := os.OpenFile(e.opts.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f.Close()
	l, err := filelock.File(ctx, e.opts.Path+".lock")
	if err != nil {
		return err
	}
	defer l.Close()
	e.client, err = e.newContext(ctx, bridge{log: e.log})
	return err
}

// newContext gives a DBOS context that is not yet launched. It does not end with ctx: a DBOS context that is cancelled from
// outside marks its workflows as cancelled, one that is shut down leaves them pending.
func (e *Engine) newContext(ctx context.Context, log bridge) (dbos.Context, error) {
	// The path goes through a file URI, so that a question mark in a folder's name stays part of it.
	dsn := "sqlite:" + (&url.URL{Scheme: "file", Path: filepath.ToSlash(e.opts.Path)}).String()
	return dbos.NewContext(context.WithoutCancel(ctx), dbos.Config{
		AppName:                appName,
		ApplicationVersion:     Version,
		ExecutorID:             fmt.Sprintf("%d-%s", os.Getpid(), rand.Text()),
		DatabaseURL:            dsn,
		Logger:                 slog.New(log),
		SystemDBStartupTimeout: 30 * time.Second,
	})
}

// Close interrupts the runs that are being executed, which leaves them pending, and waits for them until ctx ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	for _, cancel := range e.live {
		cancel(ErrClosed)
	}
	e.mu.Unlock()

	done := make(chan struct{})
	go func() { e.wg.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = fmt.Errorf("close engine: wait for runs: %w", context.Cause(ctx))
	}
	return errors.Join(err, dbos.Shutdown(e.client, e.opts.Grace))
}

// enter registers a run as live in this process; the function gives it back.
func (e *Engine) enter(id string, cancel context.CancelCauseFunc) (leave func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	e.live[id] = cancel
	e.wg.Add(1)
	return func() {
		e.mu.Lock()
		delete(e.live, id)
		e.mu.Unlock()
		e.wg.Done()
	}, nil
}
