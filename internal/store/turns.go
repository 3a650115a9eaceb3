package store

import (
	"context"
	"fmt"
	"time"
)

// dayMicros is a day in the microseconds of clocks.
const dayMicros = 24 * 60 * 60 * 1_000_000

// TakeTurn takes one of the turns that an author has in a day, in UTC by the database's clock. A turn that was taken before is taken still. wait is 0, or
// how long it is until the next day when there is no turn left.
func (s *Store) TakeTurn(ctx context.Context, author, turn string, most int) (wait time.Duration, err error) {
	op, clock := "take a turn for "+author, s.dialect.clock()
	for range 20 { // others may take the same slot meanwhile
		res, err := s.write.ExecContext(ctx, fmt.Sprintf(`INSERT INTO turns (author, day, slot, turn)
			SELECT CAST($1 AS TEXT), %s / %d, coalesce(max(slot), 0) + 1, CAST($2 AS TEXT) FROM turns WHERE author = $1 AND day = %[1]s / %[2]d HAVING coalesce(max(slot), 0) < $3
			ON CONFLICT DO NOTHING`, clock, dayMicros), author, turn, most)
		if err != nil {
			return 0, s.wrap(op, err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 1 {
			return 0, s.wrap(op, err)
		}
		var taken, full bool
		var left int64
		err = s.read.QueryRowContext(ctx, fmt.Sprintf(`SELECT EXISTS (SELECT 1 FROM turns WHERE turn = $1),
			EXISTS (SELECT 1 FROM turns WHERE author = $2 AND day = %s / %d AND slot >= $3), %[2]d - %[1]s %% %[2]d`, clock, dayMicros), turn, author, most).Scan(&taken, &full, &left)
		switch {
		case err != nil:
			return 0, s.wrap(op, err)
		case taken:
			return 0, nil
		case full:
			return time.Duration(left) * time.Microsecond, nil
		}
	}
	return 0, s.wrap(op, ErrBusy)
}

// ForgetTurns forgets the turns of days that are over.
func (s *Store) ForgetTurns(ctx context.Context) error {
	_, err := s.write.ExecContext(ctx, fmt.Sprintf(`DELETE FROM turns WHERE day < %s / %d - 1`, s.dialect.clock(), dayMicros))
	return s.wrap("forget turns", err)
}
