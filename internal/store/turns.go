package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
)

// dayMicros is a day in the microseconds of clocks.
const dayMicros = 24 * 60 * 60 * 1_000_000

// TakeTurn takes one of the turns that an author has in a day, in UTC by the database's clock, for a subject. While a subject is about the same as when it took
// its last turn, it has that one still. wait is 0, or how long it is until the next day when there is no turn left.
func (s *Store) TakeTurn(ctx context.Context, author, subject, about string, most int) (wait time.Duration, err error) {
	op, clock := "take a turn for "+author, s.dialect.clock()
	subject += " "
	turn := subject + about + " "
	for range 20 { // others may take the same slot meanwhile
		var last string
		var full bool
		var left int64
		err := s.read.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce((SELECT turn FROM turns WHERE author = $1 AND substr(turn, 1, length($2)) = $2 ORDER BY day DESC, slot DESC LIMIT 1), ''),
			EXISTS (SELECT 1 FROM turns WHERE author = $1 AND day = %s / %d AND slot >= $3), %[2]d - %[1]s %% %[2]d`, clock, dayMicros), author, subject, most).Scan(&last, &full, &left)
		switch {
		case err != nil:
			return 0, s.wrap(op, err)
		case strings.HasPrefix(last+" ", turn): // those of before end with what they are about
			return 0, nil
		case full:
			return time.Duration(left) * time.Microsecond, nil
		}
		res, err := s.write.ExecContext(ctx, fmt.Sprintf(`INSERT INTO turns (author, day, slot, turn)
			SELECT CAST($1 AS TEXT), %s / %d, coalesce(max(slot), 0) + 1, CAST($2 AS TEXT) FROM turns WHERE author = $1 AND day = %[1]s / %[2]d HAVING coalesce(max(slot), 0) < $3
			ON CONFLICT DO NOTHING`, clock, dayMicros), author, turn+rand.Text(), most)
		if err != nil {
			return 0, s.wrap(op, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 1 {
			return 0, s.wrap(op, err)
		}
	}
	return 0, s.wrap(op, ErrBusy)
}

// ForgetTurns forgets the turns of days that are over.
func (s *Store) ForgetTurns(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf(`DELETE FROM turns WHERE day < %s / %d - 1`, s.dialect.clock(), dayMicros))
	return s.wrap("forget turns", err)
}
