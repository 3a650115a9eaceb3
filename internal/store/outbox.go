package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/internal/failpoint"
)

// OutboxState is how far an effect is; see the package comment.
type OutboxState string

// The states.
const (
	StateIntent OutboxState = "intent"
	StateSent   OutboxState = "sent"
	StateAcked  OutboxState = "acked"
	StateAbsent OutboxState = "absent"
)

// An Entry is an effect as the store keeps it.
type Entry struct {
	effects.Effect
	State OutboxState
	// Attempts is how often sending was begun.
	Attempts         int
	Created, AckedAt time.Time
}

// Where a kill may fall (threats.md "Fault matrix").
var (
	beforeIntent = failpoint.New("outbox: before intent")
	afterIntent  = failpoint.New("outbox: after intent")
	sending      = failpoint.New("outbox: sending")
	beforeAck    = failpoint.New("outbox: before ack")
	afterAck     = failpoint.New("outbox: after ack")
	absent       = failpoint.New("outbox: absent")
)

// Intent records that e is to be made, and gives the effect to go by: e itself, or the one that was recorded under its kind and
// key before, with that one's nonce and payload. Whoever resumes a run makes again what was intended, not anew. What may be there
// keeps its account, by which it is to be recognised, and has SentAt; else the account is e's from now on.
func (s *Store) Intent(ctx context.Context, e effects.Effect) (effects.Effect, error) {
	op := fmt.Sprintf("record intent of %s %s", e.Kind, e.Key)
	if e.Nonce == "" || e.Kind == "" || e.Key == "" {
		return e, s.wrap(op, errors.New("incomplete effect"))
	}
	target, err := text(e.Target)
	if err != nil {
		return e, s.wrap(op, err)
	}
	if err := beforeIntent.Hit(); err != nil {
		return e, s.wrap(op, err)
	}
	var out Entry
	now := micros(s.now())
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		if err := after(ctx, tx, &now, `SELECT MAX(created) FROM effects WHERE head = $1 AND kind = $2`, e.Head, e.Kind); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO effects (nonce, kind, effect_key, run, target, head, payload, payload_hash, state, attempts, created, ref)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'intent', 0, $9, '') ON CONFLICT (kind, effect_key) DO NOTHING`,
			e.Nonce, e.Kind, e.Key, sql.NullString{String: e.Run, Valid: e.Run != effects.NoRun}, target, e.Head, e.Payload, hash(e.Payload), now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE effects SET account_login = $3, account_id = $4
			WHERE kind = $1 AND effect_key = $2 AND state IN ('intent', 'absent')`,
			e.Kind, e.Key, sql.NullString{String: e.As.Login, Valid: e.As.Login != ""}, sql.NullInt64{Int64: e.As.ID, Valid: e.As.ID != 0}); err != nil {
			return err
		}
		out, err = scan(tx.QueryRowContext(ctx, selectEntry+` WHERE kind = $1 AND effect_key = $2`, e.Kind, e.Key))
		return err
	})
	if err == nil {
		err = s.wrap(op, afterIntent.Hit())
	}
	if out.State == StateAbsent {
		out.SentAt = time.Time{}
	}
	return out.Effect, err
}

// Sending records that the effect is about to be sent: to be called right before the one request, which no transport may
// repeat. ErrState if it was sent already and not proven absent since; ErrStale, and nothing recorded, if one of the leases
// the caller goes by is not its own any more: the check and the record are one transaction.
func (s *Store) Sending(ctx context.Context, nonce string, held ...*Lease) error {
	now := micros(s.now())
	err := s.change(ctx, "sending", nonce, held, `UPDATE effects SET state = 'sent', attempts = attempts + 1, sent_at = $2
		WHERE nonce = $1 AND state IN ('intent', 'absent')`, now)
	if err != nil {
		return err
	}
	return s.wrap("outbox sending "+nonce, sending.Hit())
}

// Ack records GitHub's answer, or that the effect was found there. Said again with the same ref it does nothing; with another
// it is ErrState: the same effect was made twice, which must not happen.
func (s *Store) Ack(ctx context.Context, nonce, ref string) error {
	if err := beforeAck.Hit(); err != nil {
		return s.wrap("outbox ack "+nonce, err)
	}
	now := micros(s.now())
	err := s.change(ctx, "ack", nonce, nil, `UPDATE effects SET state = 'acked', acked_at = coalesce(acked_at, $2), ref = $3
		WHERE nonce = $1 AND (state IN ('sent', 'absent') OR (state = 'acked' AND ref = $3))`, now, ref)
	if err != nil {
		return err
	}
	return s.wrap("outbox ack "+nonce, afterAck.Hit())
}

// Absent records that the effect may be sent again with the same nonce: GitHub does not have it, or it is repeatable.
func (s *Store) Absent(ctx context.Context, nonce string) error {
	if err := absent.Hit(); err != nil {
		return s.wrap("outbox absent "+nonce, err)
	}
	return s.change(ctx, "absent", nonce, nil, `UPDATE effects SET state = 'absent' WHERE nonce = $1 AND state IN ('sent', 'absent')`)
}

// change does one guarded step, under leases if any, and tells a missing entry from one in the wrong state.
func (s *Store) change(ctx context.Context, what, nonce string, held []*Lease, query string, args ...any) error {
	op := fmt.Sprintf("outbox %s %s", what, nonce)
	return s.tx(ctx, op, func(tx *sql.Tx) error {
		for _, l := range held {
			if err := l.check(ctx, tx); err != nil {
				return err
			}
		}
		res, err := tx.ExecContext(ctx, query, append([]any{nonce}, args...)...)
		if err = one(res, err); !errors.Is(err, ErrNotFound) {
			return err
		}
		var state string
		switch err := tx.QueryRowContext(ctx, `SELECT state FROM effects WHERE nonce = $1`, nonce).Scan(&state); {
		case missing(err):
			return ErrNotFound
		case err != nil:
			return err
		}
		return fmt.Errorf("%w (%s)", ErrState, state)
	})
}

// Outbox gives the effects of a run in the order they were intended.
func (s *Store) Outbox(ctx context.Context, run string) ([]Entry, error) {
	op := "outbox of run " + run
	rows, err := s.read.QueryContext(ctx, selectEntry+` WHERE run = $1 ORDER BY created, kind, effect_key`, run)
	return s.entries(op, rows, err)
}

// EffectsOn gives the effects of a kind on a commit, of all runs, in the order they were intended.
func (s *Store) EffectsOn(ctx context.Context, kind, head string) ([]Entry, error) {
	op := "effects of kind " + kind + " on " + head
	rows, err := s.read.QueryContext(ctx, selectEntry+` WHERE head = $1 AND kind = $2 ORDER BY created, nonce`, head, kind)
	return s.entries(op, rows, err)
}

// Newest gives the newest effect of a kind for each head of each repository, of all runs, in the order they were intended. Two pull requests may
// have one head, and so may two repositories.
func (s *Store) Newest(ctx context.Context, kind string) ([]Entry, error) {
	op := "newest effects of kind " + kind
	rows, err := s.read.QueryContext(ctx, `SELECT `+entryColumns+` FROM
		(SELECT *, row_number() OVER (PARTITION BY lower(rtrim(target, '0123456789')), head ORDER BY created DESC, nonce DESC) AS place FROM effects WHERE kind = $1) AS placed
		WHERE place = 1 ORDER BY created, effect_key`, kind)
	return s.entries(op, rows, err)
}

// entries reads rows of entryColumns.
func (s *Store) entries(op string, rows *sql.Rows, err error) ([]Entry, error) {
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		e, err := scan(rows)
		if err != nil {
			return nil, s.wrap(op, err)
		}
		out = append(out, e)
	}
	return out, s.wrap(op, rows.Err())
}

const entryColumns = `nonce, kind, effect_key, coalesce(run, '` + effects.NoRun + `'), target, head, payload, payload_hash, coalesce(account_login, ''), coalesce(account_id, 0),
	state, attempts, created, sent_at, acked_at, ref`

const selectEntry = `SELECT ` + entryColumns + ` FROM effects`

// scan reads one row of selectEntry and checks that the payload is the one that was intended.
func scan(row interface{ Scan(...any) error }) (Entry, error) {
	var e Entry
	var target, sum string
	var created, sent, acked sql.NullInt64
	err := row.Scan(&e.Nonce, &e.Kind, &e.Key, &e.Run, &target, &e.Head, &e.Payload, &sum, &e.As.Login, &e.As.ID,
		&e.State, &e.Attempts, &created, &sent, &acked, &e.Ref)
	if err != nil {
		return Entry{}, err
	}
	if sum != hash(e.Payload) {
		return Entry{}, fmt.Errorf("%s %s: its payload is not the one that was intended", e.Kind, e.Key)
	}
	e.Created, e.SentAt, e.AckedAt = moment(created), moment(sent), moment(acked)
	return e, parse("target", target, &e.Target)
}

func hash(payload string) string {
	sum := sha256.Sum256([]byte(payload))
	return hex.EncodeToString(sum[:])
}
