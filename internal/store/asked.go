package store

import (
	"context"
	"database/sql"
)

// Ask records what a comment asks for and the run that answers it, if that is a run. It gives the run that was recorded for it first, and
// whether this call recorded it.
func (s *Store) Ask(ctx context.Context, ask, run string) (answering string, first bool, err error) {
	op := "record what " + ask + " asks for"
	err = s.tx(ctx, op, func(tx *sql.Tx) (err error) {
		answering, first, err = recordAsk(ctx, tx, ask, run, micros(s.now()))
		return err
	})
	return answering, first, err
}

func recordAsk(ctx context.Context, tx *sql.Tx, ask, run string, now int64) (answering string, first bool, err error) {
	res, err := tx.ExecContext(ctx, `INSERT INTO asked (ask, run, created) VALUES ($1, $2, $3) ON CONFLICT (ask) DO NOTHING`, ask, run, now)
	if err != nil {
		return "", false, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return "", false, err
	}
	err = tx.QueryRowContext(ctx, `SELECT run FROM asked WHERE ask = $1`, ask).Scan(&answering)
	return answering, n == 1, err
}

// AnsweredError: another run answers what a comment asks for.
type AnsweredError struct{ Run string }

func (e *AnsweredError) Error() string { return "the comment is answered by run " + e.Run }

// Asked gives the run that was recorded for what a comment asks for; empty when there is none.
func (s *Store) Asked(ctx context.Context, ask string) (run string, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT run FROM asked WHERE ask = $1`, ask).Scan(&run)
	if missing(err) {
		return "", nil
	}
	return run, s.wrap("read who answers "+ask, err)
}
