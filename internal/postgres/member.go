package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// ErrLost: this process was silent for so long that it was buried. It writes nothing any more.
var ErrLost = errors.New("this process was silent for too long, and others may have what it had")

// ErrHeld: another process has the lock of a run, or another part of this one.
var ErrHeld = errors.New("the lock is held")

// A Member is this process among those that have a database open. All that open one address share it.
type Member struct {
	address *Address
	key     string
	id      string
	// pool has the heartbeat and the locks for themselves: no other load holds them up.
	pool *pgxpool.Pool

	users int // guarded by members.mu
	// gone ends when the process is lost, with ErrLost, or when the last user has left.
	gone context.Context
	end  context.CancelCauseFunc
	beat sync.WaitGroup

	mu sync.Mutex
	// heard is when the last heartbeat that the database took was begun, by the clock that only goes forward.
	heard time.Time
	// locks are the runs that this process has, or may have.
	locks map[string]bool
}

// members are this process in all databases it has open, by address.
var members = struct {
	mu  sync.Mutex
	all map[string]*Member
}{all: map[string]*Member{}}

// Join makes this process one of those that have the database at an address open, or gives what it is already.
func Join(ctx context.Context, address string) (*Member, error) {
	a, err := Parse(address)
	if err != nil {
		return nil, err
	}
	members.mu.Lock()
	defer members.mu.Unlock()
	if m := members.all[address]; m != nil && m.gone.Err() == nil {
		m.users++
		return m, nil
	}
	m := &Member{address: a, key: address, id: name(), users: 1, locks: map[string]bool{}}
	if err := m.join(ctx); err != nil {
		if m.pool != nil {
			m.pool.Close()
		}
		return nil, err
	}
	members.all[address] = m
	return m, nil
}

// name is one that no process had before.
func name() string {
	host, _ := os.Hostname() // only to be read by people
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:12])
}

func (m *Member) join(ctx context.Context) error {
	c := m.address.pool(m.id, 4)
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return err
	}
	var there bool
	err = conn.QueryRow(ctx, made).Scan(&there)
	conn.Close(ctx)
	if err == nil && !there {
		err = alone(ctx, c.ConnConfig, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, tables)
			return err
		})
	}
	if err != nil {
		return err
	}
	if m.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return err
	}
	began := time.Now()
	err = pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO prloop.processes (id, began) VALUES ($1, `+clock+`)`, m.id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO prloop.heartbeats (process, lease, expires) VALUES ($1, $2, `+clock+` + $2)`, m.id, m.address.lease.Microseconds())
		return err
	})
	if err != nil {
		return err
	}
	m.heard = began
	m.gone, m.end = context.WithCancelCause(context.Background())
	m.beat.Go(m.beating)
	return nil
}

// Leave is called once for each Join. With the last of them the process is one of those no more, and what it still had is free.
func (m *Member) Leave() error {
	members.mu.Lock()
	defer members.mu.Unlock()
	if m.users--; m.users > 0 {
		return nil
	}
	if members.all[m.key] == m {
		delete(members.all, m.key)
	}
	m.end(nil)
	m.beat.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := m.pool.Exec(ctx, `DELETE FROM prloop.processes WHERE id = $1`, m.id)
	m.pool.Close()
	if KindOf(err) == Gone || errors.Is(err, context.DeadlineExceeded) { // its heartbeat runs out instead
		return nil
	}
	return err
}

// String names the database without its password.
func (m *Member) String() string { return m.address.String() }

// ID names the process.
func (m *Member) ID() string { return m.id }

// Gone ends when the process is lost; its cause is ErrLost then.
func (m *Member) Gone() context.Context { return m.gone }

// Sure gives an error unless the database has heard of this process within the time of its lease: if it has not, the process may have
// been buried by now, and what it does outside the database nothing else stops.
func (m *Member) Sure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch quiet := time.Since(m.heard); {
	case m.gone.Err() != nil:
		return context.Cause(m.gone)
	case quiet >= m.address.lease:
		return fmt.Errorf("%s did not answer for %v: %w", m, quiet.Round(time.Millisecond), ErrLost)
	}
	return nil
}

// beating renews the heartbeat five times in its time. A database that does not answer is asked again: only one that answers can say
// that the process was buried.
func (m *Member) beating() {
	tick := time.NewTicker(m.address.lease / 5)
	defer tick.Stop()
	for {
		select {
		case <-m.gone.Done():
			return
		case <-tick.C:
		}
		if err := m.renew(); errors.Is(err, ErrLost) {
			m.end(ErrLost)
		}
	}
}

func (m *Member) renew() error {
	ctx, cancel := context.WithTimeout(m.gone, m.address.lease/2)
	defer cancel()
	began := time.Now()
	tag, err := m.pool.Exec(ctx, `UPDATE prloop.heartbeats SET expires = `+clock+` + lease WHERE process = $1`, m.id)
	switch {
	case err != nil:
		return err
	case tag.RowsAffected() == 0:
		return ErrLost
	}
	m.mu.Lock()
	m.heard = began
	m.mu.Unlock()
	return nil
}

// silent are the processes that may be buried: those that the database has not heard of in the time of their lease, since it runs
// itself. Nobody could have been heard while it did not.
const silent = `SELECT process FROM prloop.heartbeats WHERE greatest(expires,
	CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT) + lease) < ` + clock

// bury makes sure that processes that are silent write nothing any more. Their locks stay, as those of nobody.
func (m *Member) bury(ctx context.Context) error {
	_, err := m.pool.Exec(ctx, `DELETE FROM prloop.processes WHERE id <> $1 AND id IN (`+silent+`)`, m.id)
	return err
}

// Lock makes this process the one that has a run; ErrHeld when a living one has, or this one has already. Whoever had it before writes
// nothing any more. When the database did not say whether it gave the lock, it is given back behind the scenes: nobody would for as long as this process lives.
func (m *Member) Lock(ctx context.Context, run string) error {
	if !m.reserve(run) {
		return ErrHeld
	}
	err := m.take(ctx, run)
	switch {
	case err == nil:
	case errors.Is(err, ErrHeld):
		m.forgo(run)
	default:
		go func() {
			for m.Unlock(m.gone, run, false) != nil && m.gone.Err() == nil { // it ends with the process, and so does the lock
				time.Sleep(100 * time.Millisecond)
			}
		}()
	}
	return err
}

// reserve reports whether no other part of this process has a run.
func (m *Member) reserve(run string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[run] && m.gone.Err() == nil {
		return false
	}
	m.locks[run] = true
	return true
}

func (m *Member) forgo(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.locks, run)
}

// take has the database give this process a run, of which no other part of it has the lock.
func (m *Member) take(ctx context.Context, run string) error {
	if err := m.bury(ctx); err != nil {
		return err
	}
	tag, err := m.pool.Exec(ctx, `WITH me AS (SELECT id FROM prloop.processes WHERE id = $2 FOR KEY SHARE)
		INSERT INTO prloop.run_locks (run, process, taken) SELECT $1, id, `+clock+` FROM me
		ON CONFLICT (run) DO UPDATE SET process = excluded.process, taken = excluded.taken
		WHERE run_locks.process = excluded.process OR NOT EXISTS (SELECT 1 FROM prloop.processes p WHERE p.id = run_locks.process)`, run, m.id)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	var alive bool
	if err := m.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM prloop.processes WHERE id = $1)`, m.id).Scan(&alive); err != nil {
		return err
	}
	if !alive {
		return ErrLost
	}
	return ErrHeld
}

// Unlock gives the lock of a run back; until that has worked nobody here takes it again. With handOver it is one of the Orphans, for whoever is there next.
func (m *Member) Unlock(ctx context.Context, run string, handOver bool) error {
	query := `DELETE FROM prloop.run_locks WHERE run = $1 AND process = $2`
	if handOver {
		query = `UPDATE prloop.run_locks SET process = '' WHERE run = $1 AND process = $2`
	}
	_, err := m.pool.Exec(ctx, query, run, m.id)
	if err == nil {
		m.forgo(run)
	}
	return err
}

// Orphans are the runs that a process had which is no more, the oldest first.
func (m *Member) Orphans(ctx context.Context) ([]string, error) {
	if err := m.bury(ctx); err != nil {
		return nil, err
	}
	rows, err := m.pool.Query(ctx, `SELECT run FROM prloop.run_locks l WHERE NOT EXISTS (SELECT 1 FROM prloop.processes p WHERE p.id = l.process) ORDER BY taken, run`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Living are the processes that are not silent. The others write nothing any more.
func (m *Member) Living(ctx context.Context) ([]string, error) {
	if err := m.bury(ctx); err != nil {
		return nil, err
	}
	rows, err := m.pool.Query(ctx, `SELECT id FROM prloop.processes ORDER BY id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// A Process is one of those that have the database open.
type Process struct {
	ID    string
	Began time.Time
	// Runs is how many it has.
	Runs int
}

// Processes are those that are not silent, the oldest first.
func (m *Member) Processes(ctx context.Context) ([]Process, error) {
	rows, err := m.pool.Query(ctx, `SELECT p.id, p.began, (SELECT count(*) FROM prloop.run_locks l WHERE l.process = p.id) FROM prloop.processes p
		WHERE p.id NOT IN (`+silent+`) ORDER BY p.began, p.id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Process, err error) {
		var began int64
		err = row.Scan(&p.ID, &began, &p.Runs)
		p.Began = time.UnixMicro(began).UTC()
		return p, err
	})
}

// locked asks whether a process that is not silent has a run.
const locked = `SELECT EXISTS (SELECT 1 FROM prloop.run_locks l WHERE l.run = $1
	AND EXISTS (SELECT 1 FROM prloop.processes p WHERE p.id = l.process) AND l.process NOT IN (` + silent + `))`

// Locked reports whether a living process has the lock of a run of the database at an address. It changes nothing.
func Locked(ctx context.Context, address, run string) (held bool, err error) {
	members.mu.Lock()
	m := members.all[address]
	if m != nil && m.gone.Err() == nil {
		m.users++
	} else {
		m = nil
	}
	members.mu.Unlock()
	if m != nil {
		err = m.pool.QueryRow(ctx, locked, run).Scan(&held)
		return held, errors.Join(err, m.Leave())
	}
	a, err := Parse(address)
	if err != nil {
		return false, err
	}
	conn, err := pgx.ConnectConfig(ctx, a.pool("", 1).ConnConfig)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, made).Scan(&there); err != nil || !there {
		return false, err
	}
	return held, conn.QueryRow(ctx, locked, run).Scan(&held)
}

// Pool connects a further pool of this process, of at most n connections. It is the caller's to close.
func (m *Member) Pool(ctx context.Context, n int32) (*pgxpool.Pool, error) {
	return pgxpool.NewWithConfig(ctx, m.address.pool(m.id, n))
}

// DB is the like for database/sql.
func (m *Member) DB(n int) *sql.DB {
	db := stdlib.OpenDB(*m.address.pool(m.id, 1).ConnConfig)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(min(n, 4))
	db.SetConnMaxIdleTime(time.Minute)
	return db
}

// Change does fn, which makes or changes the tables of a schema, while no other process changes the database as a whole. Afterwards
// processes that were buried write none of them.
func (m *Member) Change(ctx context.Context, schema string, fn func() error) error {
	m.address.changing.Add(1)
	defer m.address.changing.Add(-1)
	return alone(ctx, m.address.pool(m.id, 1).ConnConfig, func(conn *pgx.Conn) error {
		if err := fn(); err != nil {
			return err
		}
		return fence(ctx, conn, schema)
	})
}
