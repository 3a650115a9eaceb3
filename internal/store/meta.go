package store

import (
	"context"
	"encoding/base64"
	"fmt"
)

const (
	markerKey      = "marker_key"
	minMarkerBytes = 32
)

// MarkerKey gives the key that our comment markers are authenticated with (decision 2). It is made once, by gen, and is the
// same for every process that uses this database. At least 32 bytes.
func (s *Store) MarkerKey(ctx context.Context, gen func() []byte) ([]byte, error) {
	key, err := s.meta(ctx, markerKey, gen)
	if err == nil && len(key) < minMarkerBytes {
		err = fmt.Errorf("marker key has %d bytes, %d are needed", len(key), minMarkerBytes)
	}
	if err != nil {
		return nil, s.wrap("marker key", err)
	}
	return key, nil
}

// meta gives a stored value, storing gen's first if there is none: of several processes one wins.
func (s *Store) meta(ctx context.Context, name string, gen func() []byte) ([]byte, error) {
	const get = `SELECT value FROM meta WHERE name = $1`
	var v string
	if err := s.read.QueryRowContext(ctx, get, name).Scan(&v); err != nil {
		if !missing(err) {
			return nil, err
		}
		fresh := gen()
		if len(fresh) < minMarkerBytes {
			return fresh, nil // too short to be kept; the caller says so
		}
		if _, err := s.write.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
			name, base64.StdEncoding.EncodeToString(fresh)); err != nil {
			return nil, err
		}
		if err := s.write.QueryRowContext(ctx, get, name).Scan(&v); err != nil {
			return nil, err
		}
	}
	return base64.StdEncoding.DecodeString(v)
}

// notePrefix sets the names of notes apart.
const notePrefix = "note "

// Note gives what was noted under a name last; empty when nothing was.
func (s *Store) Note(ctx context.Context, name string) (string, error) {
	var v string
	err := s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = $1`, notePrefix+name).Scan(&v)
	if missing(err) {
		return "", nil
	}
	return v, s.wrap("read the note "+name, err)
}

// SetNote notes something under a name.
func (s *Store) SetNote(ctx context.Context, name, value string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, notePrefix+name, value)
	return s.wrap("note "+name, err)
}
