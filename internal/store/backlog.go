package store

import (
	"context"
	"time"
)

// Backlog is what is open at a moment.
type Backlog struct {
	// Waiting is how many looks are wanted and not seen to, by priority; Oldest is how long the oldest has waited.
	Waiting map[uint]int64
	Oldest  time.Duration
	// Leases is how many pull requests are held by runs.
	Leases int64
	// Unkept is how many files of runs the blob store does not have yet.
	Unkept int64
}

// Backlog counts what is open.
func (s *Store) Backlog(ctx context.Context) (f Backlog, err error) {
	const op = "count what waits"
	f.Waiting = map[uint]int64{}
	rows, err := s.read.QueryContext(ctx, `SELECT priority, COUNT(*), MIN(since), `+s.dialect.clock()+` FROM wanted WHERE asked > handled GROUP BY priority`)
	if err != nil {
		return f, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var priority uint
		var n, since, now int64
		if err := rows.Scan(&priority, &n, &since, &now); err != nil {
			return f, s.wrap(op, err)
		}
		f.Waiting[priority] = n
		f.Oldest = max(f.Oldest, time.Duration(now-since)*time.Microsecond)
	}
	if err := rows.Err(); err != nil {
		return f, s.wrap(op, err)
	}
	err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM leases WHERE released = 0 AND expires > `+s.dialect.clock()).Scan(&f.Leases)
	if err == nil {
		err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM files WHERE status = 'waiting'`).Scan(&f.Unkept)
	}
	return f, s.wrap(op, err)
}
