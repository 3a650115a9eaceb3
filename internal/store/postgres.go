package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/database"
	"github.com/prloop/prloop/internal/postgres"
)

// postgresServer is a record in PostgreSQL. Beside the checks of leases, a process that was buried writes none of its rows.
type postgresServer struct {
	address string
	name    string
	member  *postgres.Member
}

// mostConnections is how many the store may have in one process: more writers than that wait here.
const mostConnections = 8

func newPostgres(rest string) (dialect, error) {
	address := database.Address{Kind: database.Postgres, Rest: rest}.String()
	a, err := postgres.Parse(address)
	if err != nil {
		return nil, err
	}
	return &postgresServer{address: address, name: a.String()}, nil
}

func (s *postgresServer) String() string { return s.name }

func (s *postgresServer) open(ctx context.Context, migrate func(context.Context, *sql.DB) error) (write, read *sql.DB, err error) {
	if s.member, err = postgres.Join(ctx, s.address); err != nil {
		return nil, nil, err
	}
	db := s.member.DB(mostConnections)
	return db, db, s.member.Change(ctx, postgres.Schema, func() error { return migrate(ctx, db) })
}

func (s *postgresServer) close() error {
	if s.member == nil {
		return nil
	}
	return s.member.Leave()
}

func (s *postgresServer) sure() error { return s.member.Sure() }

func (*postgresServer) goose() goose.Dialect { return goose.DialectPostgres }

// clock is the time at which the statement runs: now() is that at which its transaction began.
func (*postgresServer) clock() string {
	return "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
}

func (*postgresServer) shared() string { return " FOR SHARE" }

func (s *postgresServer) processes(ctx context.Context) (out []Process, err error) {
	all, err := s.member.Processes(ctx)
	for _, p := range all {
		out = append(out, Process{p.ID, p.Began, p.Runs})
	}
	return out, err
}

func (s *postgresServer) kind(err error) error {
	switch postgres.KindOf(err) {
	case postgres.Full:
		return ErrFull
	case postgres.ReadOnly:
		return ErrReadOnly
	case postgres.Busy:
		return ErrBusy
	case postgres.Gone:
		return ErrGone
	case postgres.Lost:
		return ErrStale
	case postgres.Corrupt:
		return &CorruptError{Path: s.name, Detail: err.Error()}
	}
	return nil
}
