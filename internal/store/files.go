package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// File is one of a run that machines share through a blob store.
type File struct {
	Run, Name string
	// Sum is the SHA-256 of what it holds, in hexadecimal.
	Sum string
	// Place is whose folder it was saved in, Kept whether the blob store has it.
	Place string
	Kept  bool
}

// SaveFile says that a place has a file, in place of what its name had before. The blob store does not have it yet.
func (s *Store) SaveFile(ctx context.Context, f File) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO files (run, name, sum, place, status, saved) VALUES ($1, $2, $3, $4, 'waiting', $5)
		ON CONFLICT (run, name) DO UPDATE SET sum = excluded.sum, place = excluded.place, status = excluded.status, saved = excluded.saved
		WHERE NOT (files.sum = excluded.sum AND files.status = 'kept')`, f.Run, f.Name, f.Sum, f.Place, micros(s.now()))
	return s.wrap("save the file "+f.Name+" of run "+f.Run, err)
}

// KeepFile says that the blob store has a file, unless its name has something else by now.
func (s *Store) KeepFile(ctx context.Context, f File) error {
	_, err := s.write.ExecContext(ctx, `UPDATE files SET status = 'kept' WHERE run = $1 AND name = $2 AND sum = $3 AND status = 'waiting'`, f.Run, f.Name, f.Sum)
	return s.wrap("keep the file "+f.Name+" of run "+f.Run, err)
}

// LoseFile forgets a file that its place does not have any more, unless its name has something else by now.
func (s *Store) LoseFile(ctx context.Context, f File) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM files WHERE run = $1 AND name = $2 AND sum = $3 AND place = $4 AND status = 'waiting'`, f.Run, f.Name, f.Sum, f.Place)
	return s.wrap("lose the file "+f.Name+" of run "+f.Run, err)
}

// Files are those of a run, by name.
func (s *Store) Files(ctx context.Context, run string) ([]File, error) {
	return s.files(ctx, "list the files of run "+run, `SELECT run, name, sum, place, status FROM files WHERE run = $1 AND status <> 'over' ORDER BY name`, run)
}

// UnkeptFiles are at most limit of a place that the blob store does not have, the oldest first, after so many that are skipped.
func (s *Store) UnkeptFiles(ctx context.Context, place string, skip, limit int) ([]File, error) {
	return s.files(ctx, "list files that are not kept", `SELECT run, name, sum, place, status FROM files WHERE status = 'waiting' AND place = $1
		ORDER BY saved, run, name LIMIT $2 OFFSET $3`, place, limit, skip)
}

func (s *Store) files(ctx context.Context, op, query string, args ...any) (all []File, err error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var f File
		var status string
		if err := rows.Scan(&f.Run, &f.Name, &f.Sum, &f.Place, &status); err != nil {
			return nil, s.wrap(op, err)
		}
		f.Kept = status == "kept"
		all = append(all, f)
	}
	return all, s.wrap(op, rows.Err())
}

// DropFiles says that the files of a run are to be removed.
func (s *Store) DropFiles(ctx context.Context, run string) error {
	_, err := s.write.ExecContext(ctx, `UPDATE files SET status = 'over' WHERE run = $1`, run)
	return s.wrap("drop the files of run "+run, err)
}

// ExpireFiles drops those of runs of which nothing was saved since a time, save those that keep is true of.
func (s *Store) ExpireFiles(ctx context.Context, since time.Time, keep func(run string) bool) error {
	runs, err := s.runsOfFiles(ctx, "list old files", `SELECT run FROM files WHERE status <> 'over' GROUP BY run HAVING max(saved) < $1`, micros(since))
	for _, run := range runs {
		if !keep(run) {
			err = errors.Join(err, s.DropFiles(ctx, run))
		}
	}
	return err
}

// DroppedFiles are at most limit runs whose files are to be removed.
func (s *Store) DroppedFiles(ctx context.Context, limit int) ([]string, error) {
	return s.runsOfFiles(ctx, "list files that are to be removed", `SELECT DISTINCT run FROM files WHERE status = 'over' LIMIT $1`, limit)
}

func (s *Store) runsOfFiles(ctx context.Context, op, query string, args ...any) (runs []string, err error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var run string
		if err := rows.Scan(&run); err != nil {
			return nil, s.wrap(op, err)
		}
		runs = append(runs, run)
	}
	return runs, s.wrap(op, rows.Err())
}

// ForgetFiles forgets those of a run that were dropped and are removed. What was saved since may have been removed with them: it waits again.
func (s *Store) ForgetFiles(ctx context.Context, run string) error {
	return s.tx(ctx, "forget the files of run "+run, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM files WHERE run = $1 AND status = 'over'`, run); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE files SET status = 'waiting' WHERE run = $1 AND status = 'kept'`, run)
		return err
	})
}

// Unkept counts the files of all machines that the blob store does not have yet.
type Unkept struct {
	Files  int       `json:"files"`
	Oldest time.Time `json:"oldest,omitzero"`
}

// Unkept counts the files that the blob store does not have.
func (s *Store) Unkept(ctx context.Context) (u Unkept, err error) {
	var oldest sql.NullInt64
	err = s.read.QueryRowContext(ctx, `SELECT count(*), min(saved) FROM files WHERE status = 'waiting'`).Scan(&u.Files, &oldest)
	u.Oldest = moment(oldest)
	return u, s.wrap("count files that are not kept", err)
}
