package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// tx does f in one transaction on the writing connection. What f returns decides between commit and rollback.
func (s *Store) tx(ctx context.Context, op string, f func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(op, err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := f(tx); err != nil {
		return s.wrap(op, err)
	}
	return s.wrap(op, tx.Commit())
}

// micros is how times are stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

// moment reads a stored time; unknown is the zero time.
func moment(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return time.UnixMicro(us.Int64).UTC()
}

// text encodes a value of ours as JSON.
func text(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// parse decodes JSON we stored; what names it in the error.
func parse(what, s string, v any) error {
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return fmt.Errorf("stored %s: %w", what, err)
	}
	return nil
}
