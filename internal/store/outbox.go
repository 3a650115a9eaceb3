package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
)

// OutboxState is how far one thing to be said on GitHub is; see the package comment.
type OutboxState string

// The states.
const (
	StateIntent OutboxState = "intent"
	StateSent   OutboxState = "sent"
	StateAcked  OutboxState = "acked"
	StateAbsent OutboxState = "absent"
)

// An Entry is one thing to be said on GitHub.
type Entry struct {
	// Nonce is random, stands in the comment's marker, and never changes for this entry.
	Nonce string
	Run   string
	Round int
	// Op says what it is, such as "report".
	Op string
	// Part counts from 1 to Parts.
	Part, Parts int
	Target      review.Target
	// Head is the commit the text speaks about; it is compared with the pull request's head before sending.
	Head string
	// Body is the sanitized text, marker included.
	Body string
	// Poster is the account it is posted as, by login and id alone; zero when it is not known. Whoever intends it again may
	// be another, until it is sent.
	Poster review.Person

	// What follows is the store's.
	State OutboxState
	// Attempts is how often sending was begun.
	Attempts int
	Created  time.Time
	// SentAt is when the last sending was begun, by this machine's clock; zero if never. Nothing is measured by it.
	SentAt  time.Time
	AckedAt time.Time
	// CommentID and CommentURL are what GitHub answered; 0 and empty before that.
	CommentID  int64
	CommentURL string
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

// Intent records that e is to be said, and gives the entry to go by: e itself, or the one that was recorded for the same run,
// round, op and part before, with that one's nonce and text. Whoever resumes a run says again what was intended, not anew. What
// may have been sent keeps its poster, by whom it is to be recognised; else it is to be e's from now on.
func (s *Store) Intent(ctx context.Context, e Entry) (Entry, error) {
	op := fmt.Sprintf("record intent %s %d/%d of run %s", e.Op, e.Part, e.Parts, e.Run)
	if e.Nonce == "" || e.Op == "" || e.Part < 1 || e.Part > e.Parts {
		return Entry{}, s.wrap(op, errors.New("incomplete entry"))
	}
	target, err := text(e.Target)
	if err != nil {
		return Entry{}, s.wrap(op, err)
	}
	if err := beforeIntent.Hit(); err != nil {
		return Entry{}, s.wrap(op, err)
	}
	var out Entry
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO outbox (nonce, run, round, op, part, parts, target, head, body, body_hash, state, attempts, created, comment_url)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'intent', 0, $11, '') ON CONFLICT (run, round, op, part) DO NOTHING`,
			e.Nonce, e.Run, e.Round, e.Op, e.Part, e.Parts, target, e.Head, e.Body, hash(e.Body), micros(s.now())); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE outbox SET poster_login = $5, poster_id = $6
			WHERE run = $1 AND round = $2 AND op = $3 AND part = $4 AND state IN ('intent', 'absent')`,
			e.Run, e.Round, e.Op, e.Part, sql.NullString{String: e.Poster.Login, Valid: e.Poster.Login != ""},
			sql.NullInt64{Int64: e.Poster.ID, Valid: e.Poster.ID != 0}); err != nil {
			return err
		}
		out, err = scan(tx.QueryRowContext(ctx, selectEntry+` WHERE run = $1 AND round = $2 AND op = $3 AND part = $4`, e.Run, e.Round, e.Op, e.Part))
		return err
	})
	if err == nil {
		err = s.wrap(op, afterIntent.Hit())
	}
	if err != nil {
		return Entry{}, err
	}
	return out, nil
}

// Sending records that the entry is about to be sent: to be called right before the one request, which no transport may
// repeat. ErrState if it was sent already and not proven absent since; ErrStale, and nothing recorded, if one of the leases
// the caller goes by is not its own any more: the check and the record are one transaction.
func (s *Store) Sending(ctx context.Context, nonce string, held ...*Lease) error {
	now := micros(s.now())
	err := s.change(ctx, "sending", nonce, held, `UPDATE outbox SET state = 'sent', attempts = attempts + 1, sent_at = $2
		WHERE nonce = $1 AND state IN ('intent', 'absent')`, now)
	if err != nil {
		return err
	}
	return s.wrap("outbox sending "+nonce, sending.Hit())
}

// Ack records GitHub's answer, or that the comment was found there. Said again with the same comment it does nothing; with
// another it is ErrState: the same thing was said twice, which must not happen.
func (s *Store) Ack(ctx context.Context, nonce string, commentID int64, url string) error {
	if err := beforeAck.Hit(); err != nil {
		return s.wrap("outbox ack "+nonce, err)
	}
	now := micros(s.now())
	err := s.change(ctx, "ack", nonce, nil, `UPDATE outbox SET state = 'acked', acked_at = coalesce(acked_at, $2), comment_id = $3, comment_url = $4
		WHERE nonce = $1 AND (state IN ('sent', 'absent') OR (state = 'acked' AND comment_id = $3))`, now, commentID, url)
	if err != nil {
		return err
	}
	return s.wrap("outbox ack "+nonce, afterAck.Hit())
}

// Absent records that the quarantine is over and GitHub does not have it; it may be sent again with the same nonce.
func (s *Store) Absent(ctx context.Context, nonce string) error {
	if err := absent.Hit(); err != nil {
		return s.wrap("outbox absent "+nonce, err)
	}
	return s.change(ctx, "absent", nonce, nil, `UPDATE outbox SET state = 'absent' WHERE nonce = $1 AND state IN ('sent', 'absent')`)
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
		switch err := tx.QueryRowContext(ctx, `SELECT state FROM outbox WHERE nonce = $1`, nonce).Scan(&state); {
		case missing(err):
			return ErrNotFound
		case err != nil:
			return err
		}
		return fmt.Errorf("%w (%s)", ErrState, state)
	})
}

// Outbox gives all entries of a run in the order they are to be said.
func (s *Store) Outbox(ctx context.Context, run string) ([]Entry, error) {
	op := "outbox of run " + run
	rows, err := s.read.QueryContext(ctx, selectEntry+` WHERE run = $1 ORDER BY round, created, op, part`, run)
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

const selectEntry = `SELECT nonce, run, round, op, part, parts, target, head, body, body_hash, state, attempts, created, sent_at, acked_at,
	coalesce(comment_id, 0), comment_url, coalesce(poster_login, ''), coalesce(poster_id, 0) FROM outbox`

// scan reads one row of selectEntry and checks that the text is the one that was intended.
func scan(row interface{ Scan(...any) error }) (Entry, error) {
	var e Entry
	var target, sum string
	var created, sent, acked sql.NullInt64
	err := row.Scan(&e.Nonce, &e.Run, &e.Round, &e.Op, &e.Part, &e.Parts, &target, &e.Head, &e.Body, &sum, &e.State, &e.Attempts,
		&created, &sent, &acked, &e.CommentID, &e.CommentURL, &e.Poster.Login, &e.Poster.ID)
	if err != nil {
		return Entry{}, err
	}
	if sum != hash(e.Body) {
		return Entry{}, fmt.Errorf("entry %s: its text is not the one that was intended", e.Nonce)
	}
	e.Created, e.SentAt, e.AckedAt = moment(created), moment(sent), moment(acked)
	return e, parse("target", target, &e.Target)
}

func hash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}
