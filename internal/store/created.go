package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// Places gives choose the places in time, in order, at which an account creates content, and keeps what it returns.
// Others who choose for the account wait meanwhile.
func (s *Store) Places(ctx context.Context, account string, choose func(made []time.Time) []time.Time) error {
	return s.tx(ctx, "take a place among what "+account+" creates", func(tx *sql.Tx) error {
		var kept string
		err := tx.QueryRowContext(ctx, `INSERT INTO created (account, places) VALUES ($1, '[]')
			ON CONFLICT (account) DO UPDATE SET account = excluded.account RETURNING places`, account).Scan(&kept)
		if err != nil {
			return err
		}
		made, err := places(kept)
		if err != nil {
			return err
		}
		var chosen []int64
		for _, at := range choose(made) {
			chosen = append(chosen, micros(at))
		}
		if kept, err = text(chosen); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE created SET places = $1 WHERE account = $2`, kept, account)
		return err
	})
}

func places(kept string) ([]time.Time, error) {
	var us []int64
	if err := parse("places", kept, &us); err != nil {
		return nil, err
	}
	made := make([]time.Time, len(us))
	for i, at := range us {
		made[i] = time.UnixMicro(at)
	}
	return made, nil
}

// Created is what an account created on GitHub.
type Created struct {
	Account string `json:"account"` // host/login
	// Hour is how much in the last hour, Waiting how much has a place that is still to come.
	Hour    int `json:"hour"`
	Waiting int `json:"waiting"`
}

// Created tells what accounts created in the last hour, by name; those that created nothing are left out.
func (s *Store) Created(ctx context.Context) (all []Created, err error) {
	const op = "read what accounts created"
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT account, places, %s FROM created ORDER BY account`, s.dialect.clock()))
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Created
		var kept string
		var clock int64
		if err := rows.Scan(&c.Account, &kept, &clock); err != nil {
			return nil, s.wrap(op, err)
		}
		made, err := places(kept)
		if err != nil {
			return nil, s.wrap(op, err)
		}
		now := time.UnixMicro(clock)
		recent := slices.DeleteFunc(made, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
		for _, at := range recent {
			if at.After(now) {
				c.Waiting++
			}
		}
		if c.Hour = len(recent) - c.Waiting; len(recent) > 0 {
			all = append(all, c)
		}
	}
	return all, s.wrap(op, rows.Err())
}
