package postgres

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Kind is what an error of the database means for whoever asked.
type Kind string

// The kinds; empty is any other.
const (
	Full     Kind = "full"
	ReadOnly Kind = "read-only"
	Busy     Kind = "busy"
	Corrupt  Kind = "corrupt"
	// Gone: it does not answer, or not any more.
	Gone Kind = "gone"
	// Lost: this process was buried.
	Lost Kind = "lost"
)

// codes are PostgreSQL's, https://www.postgresql.org/docs/15/errcodes-appendix.html
var codes = map[string]Kind{
	lostCode: Lost,
	"53100":  Full,     // disk_full
	"25006":  ReadOnly, // read_only_sql_transaction
	"42501":  ReadOnly, // insufficient_privilege
	"55P03":  Busy,     // lock_not_available
	"40001":  Busy,     // serialization_failure
	"40P01":  Busy,     // deadlock_detected
	"53300":  Busy,     // too_many_connections
	"XX001":  Corrupt,  // data_corrupted
	"XX002":  Corrupt,  // index_corrupted
	"57P01":  Gone,     // admin_shutdown
	"57P02":  Gone,     // crash_shutdown
	"57P03":  Gone,     // cannot_connect_now
	"57P05":  Gone,     // idle_session_timeout
	"25P03":  Gone,     // idle_in_transaction_session_timeout
	"3D000":  Gone,     // invalid_catalog_name: the database was dropped
}

// KindOf says what an error means; empty when it means nothing of the kind.
func KindOf(err error) Kind {
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrLost):
		return Lost
	case errors.As(err, &pe):
		if kind, ok := codes[pe.Code]; ok {
			return kind
		}
		if len(pe.Code) == 5 && pe.Code[:2] == "08" { // connection_exception
			return Gone
		}
		return ""
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ""
	case errors.As(err, new(*pgconn.ConnectError)), errors.As(err, new(*net.OpError)), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, pgconn.ErrConnClosed): // what pgx makes of many an end
		return Gone
	}
	return ""
}
