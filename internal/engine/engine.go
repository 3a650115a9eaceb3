package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // the SQLite driver DBOS looks up
	"github.com/hashicorp/go-hclog"

	"github.com/prloop/prloop/internal/database"
)

// Version names the order of a run's steps and the shapes they are stored in. It is raised only when a run started by an
// older prloop could not be continued by this one; work of another version is never picked up.
const Version = "19"

const (
	appName = "prloop"
	// kind is the name the one workflow is registered by.
	kind = "run"

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
	// Address is that of the database, the store's too: sqlite:PATH, a path, or postgres://USER@HOST/DATABASE. A file is created with
	// mode 0600, its folder with 0700. Run locks stand in a folder beside it.
	Address string
	// Handler does a run; it must be set.
	Handler Handler
	// Grace is how long an interrupted run may take to unwind; 0 means 15 seconds (threats.md T100).
	Grace time.Duration
	// HandOver has Close leave its runs to other processes: they are Orphans then.
	HandOver bool
	// Log hears of the engine; nil for nobody.
	Log hclog.Logger
}

// An Engine keeps runs. Its methods may be called from several goroutines.
type Engine struct {
	opts    Options
	log     hclog.Logger
	dialect dialect
	client  dbos.Context // never launched: it reads, and runs nothing

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
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	d, err := dialectOf(o.Address)
	if err != nil {
		return nil, fmt.Errorf("open engine: %w", err)
	}
	e := &Engine{opts: o, log: o.Log, dialect: d, live: map[string]context.CancelCauseFunc{}}
	err = d.open(ctx, func() (err error) {
		e.client, err = e.newContext(ctx, bridge{log: e.log}, false)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open engine %s: %w", d, err), d.close())
	}
	return e, nil
}

// dialectOf finds the dialect of the database at an address.
func dialectOf(address string) (dialect, error) {
	a, err := database.Parse(address, slices.Collect(maps.Keys(dialects))...)
	if err != nil {
		return nil, err
	}
	return dialects[a.Kind](a.Rest)
}

// Executing reports whether a process is at work on a run of the database at address. It takes nothing: a process that begins with
// the run at the same time waits for it.
func Executing(address, id string) (bool, error) {
	if !validID(id) {
		return false, fmt.Errorf("run %q: not a run id", id)
	}
	d, err := dialectOf(address)
	if err != nil {
		return false, fmt.Errorf("look for the process of run %s: %w", id, err)
	}
	held, err := d.executing(id)
	if err != nil {
		return false, fmt.Errorf("look for the process of run %s: %w", id, err)
	}
	return held, nil
}

// newContext gives a DBOS context that is not yet launched. It does not end with ctx: a DBOS context that is cancelled from
// outside marks its workflows as cancelled, one that is shut down leaves them pending.
func (e *Engine) newContext(ctx context.Context, log bridge, run bool) (dbos.Context, error) {
	config := dbos.Config{
		AppName:                appName,
		ApplicationVersion:     Version,
		ExecutorID:             e.process() + executorSeparator + rand.Text(),
		Logger:                 slog.New(log),
		SystemDBStartupTimeout: 30 * time.Second,
	}
	failed, err := e.dialect.connect(ctx, &config, run)
	if err != nil {
		return nil, err
	}
	c, err := dbos.NewContext(context.WithoutCancel(ctx), config)
	if err != nil {
		failed()
	}
	return c, err
}

// executorSeparator stands between a process and what tells its executors apart.
const executorSeparator = "/"

// process names this process.
func (e *Engine) process() string {
	if d, ok := e.dialect.(shared); ok {
		return d.process()
	}
	return fmt.Sprint(os.Getpid())
}

// Orphans are the runs that a process had which is no more, and those that Close has handed over, the oldest first. Where all processes
// share the machine there are none: a run that was left waits for Resume.
func (e *Engine) Orphans(ctx context.Context) ([]string, error) {
	d, ok := e.dialect.(shared)
	if !ok {
		return nil, nil
	}
	ids, err := d.orphans(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for runs that nobody is at work on: %w", err)
	}
	return ids, nil
}

// Gone ends when this process was silent for so long that others have what it had. It writes nothing any more, and its runs stop with
// the cause of this context; whoever goes on opens the engine anew. It is nil where that cannot be.
func (e *Engine) Gone() context.Context {
	if d, ok := e.dialect.(shared); ok {
		return d.gone()
	}
	return nil
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
	return errors.Join(err, dbos.Shutdown(e.client, e.opts.Grace), e.dialect.close())
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
