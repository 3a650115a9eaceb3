package engine

import (
	"context"
	"errors"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/postgres"
)

// dbosSchema is where DBOS keeps its tables.
const dbosSchema = "dbos"

// The connections of one DBOS context: one listens, the others are for steps that end at the same time.
const (
	runConnections    = 8
	clientConnections = 4
)

// postgresServer is PostgreSQL. A run's lock is a row that names a process which lives; a process that was buried writes nothing.
type postgresServer struct {
	address string
	name    string
	member  *postgres.Member
}

func newPostgres(rest string) (dialect, error) {
	address := database.Address{Kind: database.Postgres, Rest: rest}.String()
	a, err := postgres.Parse(address)
	if err != nil {
		return nil, err
	}
	return &postgresServer{address: address, name: a.String()}, nil
}

func (s *postgresServer) String() string { return s.name }

// connect gives a DBOS context a pool of its own, which DBOS closes: it would close one that others use too.
func (s *postgresServer) connect(ctx context.Context, c *dbos.Config, run bool) (failed func(), err error) {
	n := int32(clientConnections)
	if run {
		n = runConnections
	}
	if c.SystemDBPool, err = s.member.Pool(context.WithoutCancel(ctx), n); err != nil {
		return nil, err
	}
	c.DatabaseSchema = dbosSchema
	return c.SystemDBPool.Close, nil
}

func (s *postgresServer) open(ctx context.Context, connect func() error) (err error) {
	if s.member, err = postgres.Join(ctx, s.address); err != nil {
		return err
	}
	return s.member.Change(ctx, dbosSchema, connect)
}

func (s *postgresServer) close() error {
	if s.member == nil {
		return nil
	}
	return s.member.Leave()
}

func (s *postgresServer) gone() context.Context { return s.member.Gone() }

func (s *postgresServer) lock(ctx context.Context, id string) (release func(handOver bool) error, err error) {
	if err := s.member.Lock(ctx, id); err != nil {
		if errors.Is(err, postgres.ErrHeld) {
			return nil, ErrBusy
		}
		return nil, err
	}
	return func(handOver bool) error { return s.release(id, handOver) }, nil
}

// release gives a lock back. A database that does not answer is asked again until it does or the process is lost: a lock that stayed would keep the run
// from whoever could go on with it, for as long as this process lives.
func (s *postgresServer) release(id string, handOver bool) error {
	ctx, cancel := context.WithTimeout(s.member.Gone(), releaseWait)
	defer cancel()
	err := s.unlock(ctx, id, handOver)
	if err == nil || s.member.Gone().Err() != nil {
		return err
	}
	go func() { _ = s.unlock(s.member.Gone(), id, handOver) }() // it ends with the process, and so does the lock
	return err
}

// unlock tries until ctx ends.
func (s *postgresServer) unlock(ctx context.Context, id string, handOver bool) error {
	for {
		err := s.member.Unlock(ctx, id, handOver)
		if err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

const (
	// releaseWait bounds the wait for a database that does not answer when a lock is given back; after that it is given back behind the scenes.
	releaseWait = 5 * time.Second
	askWait     = 20 * time.Second
)

func (s *postgresServer) executing(id string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	return postgres.Locked(ctx, s.address, id)
}

func (s *postgresServer) process() string { return s.member.ID() }

func (s *postgresServer) living(ctx context.Context) ([]string, error) { return s.member.Living(ctx) }

func (s *postgresServer) orphans(ctx context.Context) ([]string, error) { return s.member.Orphans(ctx) }
