package store

import (
	"context"
	"errors"
)

// ErrServer: the record is no file but a server's, which has tools of its own for copies.
var ErrServer = errors.New("the record of runs is in PostgreSQL")

// Snapshot writes a copy of the record, the engine's part too, into a new file, as it is at one moment, while others go on writing. ErrServer
// where it is no file.
func (s *Store) Snapshot(ctx context.Context, path string) error {
	if _, file := s.dialect.(sqliteFile); !file {
		return s.wrap("copy the record", ErrServer)
	}
	// One that reads cannot: SQLite counts it as writing.
	_, err := s.write.ExecContext(ctx, `VACUUM INTO $1`, path)
	return s.wrap("copy the record", err)
}
