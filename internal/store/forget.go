package store

import (
	"context"
	"database/sql"
	"time"
)

// countedFor is how long a run that called a model is kept whatever a person asks: budgets of a day are counted from it.
const countedFor = 24 * time.Hour

// forgettable joins what is to be left out instead of asking for NOT IN: PostgreSQL reads a long list of these once for each run.
const forgettable = `SELECT runs.id FROM runs
	LEFT JOIN (SELECT id FROM runs ORDER BY created DESC, id DESC LIMIT $2) newest ON newest.id = runs.id
	LEFT JOIN (SELECT repo_key, pr FROM wanted WHERE repo_key <> '' AND comment = 0 AND (seen LIKE 'OPEN %' OR seen LIKE 'CLOSED %')
		EXCEPT SELECT repo_key, pr FROM wanted WHERE comment = 0 AND seen LIKE 'MERGED %') unmerged ON unmerged.repo_key = runs.repo_key AND unmerged.pr = runs.pr
	WHERE runs.state = 'finished' AND runs.created < $1 AND newest.id IS NULL
		AND (runs.created < $3 OR NOT EXISTS (SELECT 1 FROM usage u WHERE u.run = runs.id AND u.llm_calls > 0))
		AND (unmerged.pr IS NULL OR NOT EXISTS (SELECT 1 FROM effects e WHERE e.run = runs.id AND e.kind = 'status'))
	ORDER BY runs.created DESC, runs.id DESC`

// Forgettable lists finished runs that began before a time, the newest first, without the keep newest of all runs, without those whose spending counts
// for today, and without those that set the status of a commit and whose pull request a server has seen, but not its merge, by whatever name of the repository: it may be opened again, for another
// branch too, and whether that status still holds is told by the run (threats.md T280).
func (s *Store) Forgettable(ctx context.Context, before time.Time, keep int) ([]string, error) {
	const op = "list runs to forget"
	rows, err := s.read.QueryContext(ctx, forgettable, micros(before), keep, micros(s.now().Add(-countedFor)))
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, s.wrap(op, err)
		}
		ids = append(ids, id)
	}
	return ids, s.wrap(op, rows.Err())
}

// Forget removes all there is of a run that has finished; others stay.
func (s *Store) Forget(ctx context.Context, run string) error {
	return s.tx(ctx, "forget run "+run, func(tx *sql.Tx) error {
		var finished bool
		err := tx.QueryRowContext(ctx, `SELECT state = 'finished' FROM runs WHERE id = $1`, run).Scan(&finished)
		if err != nil || !finished {
			return err
		}
		for _, of := range []string{"findings WHERE run", "usage WHERE run", "rounds WHERE run", "effects WHERE run", "spending WHERE run", "incidents WHERE run", "observation_words WHERE run", "observations WHERE run", "runs WHERE id"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+of+` = $1`, run); err != nil {
				return err
			}
		}
		return nil
	})
}
