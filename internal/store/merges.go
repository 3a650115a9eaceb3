package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// A Merge is a merged pull request, with what became of the findings that were posted on it.
type Merge struct {
	// Key is the repository, Repo what it was called then.
	Key  review.RepoKey
	Repo string
	PR   int
	// Head is the last commit of the pull request.
	Head     string
	Findings []review.PostedFinding
	// Recorded is set by the store.
	Recorded time.Time
}

// RecordMerge keeps a merge and adds its figures to those of the day, once: first is false for one that was kept before, and then nothing
// changes.
func (s *Store) RecordMerge(ctx context.Context, m Merge, figures Figures) (first bool, err error) {
	op := fmt.Sprintf("record the merge of %s#%d", m.Repo, m.PR)
	if m.Findings == nil {
		m.Findings = []review.PostedFinding{}
	}
	findings, err := text(m.Findings)
	if err != nil {
		return false, s.wrap(op, err)
	}
	now := s.now()
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		if err := lockSums(ctx, tx); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `INSERT INTO merges (repo_key, repo, pr, head, findings, recorded) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (repo_key, pr) DO NOTHING`,
			string(m.Key), m.Repo, m.PR, m.Head, findings, micros(now))
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if first = n == 1; err != nil || !first || len(figures) == 0 {
			return err
		}
		for _, sum := range []Day{{Repo: m.Repo, Key: m.Key}, {Repo: Everywhere}} {
			sum.Began, sum.Figures = day(now), Figures{}
			sum.Figures.AddAll(figures)
			if err := addSum(ctx, tx, sum); err != nil {
				return err
			}
		}
		return nil
	})
	return first && err == nil, err
}

const readMerges = `SELECT repo_key, repo, pr, head, findings, recorded FROM merges WHERE `

// Merge is what was kept of a pull request's merge. Errors: ErrNotFound.
func (s *Store) Merge(ctx context.Context, key review.RepoKey, pr int) (m Merge, err error) {
	op := fmt.Sprintf("read the merge of %s#%d", key, pr)
	found := false
	err = s.eachMerge(ctx, `repo_key = $1 AND pr = $2`, []any{string(key), pr}, func(one Merge) error {
		m, found = one, true
		return nil
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	return m, s.wrap(op, err)
}

// EachMerge calls fn with the merges of a repository, or of all, that were recorded at a time or later, the oldest first, and stops at its
// first error.
func (s *Store) EachMerge(ctx context.Context, repo string, since time.Time, fn func(Merge) error) error {
	from := int64(0)
	if !since.IsZero() {
		from = micros(since)
	}
	where, args := `recorded >= $1`, []any{from}
	if repo != "" {
		where, args = where+` AND lower(repo) = $2`, append(args, strings.ToLower(repo))
	}
	return s.wrap("read merges", s.eachMerge(ctx, where+` ORDER BY recorded, repo, pr`, args, fn))
}

func (s *Store) eachMerge(ctx context.Context, where string, args []any, fn func(Merge) error) error {
	rows, err := s.read.QueryContext(ctx, readMerges+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var m Merge
		var findings string
		var recorded sql.NullInt64
		if err := rows.Scan(&m.Key, &m.Repo, &m.PR, &m.Head, &findings, &recorded); err != nil {
			return err
		}
		m.Recorded = moment(recorded)
		if err := parse("findings", findings, &m.Findings); err != nil {
			return err
		}
		if err := fn(m); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Unmerged are pull requests with finished runs that pass the filter whose merge is not recorded, those with the newest runs first; the
// filter's limit is how many there are at most.
func (s *Store) Unmerged(ctx context.Context, f Filter) ([]review.Target, error) {
	const op = "list pull requests whose merge is not recorded"
	f.State = Finished
	where, args := f.where()
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT max(target) FROM runs WHERE %s AND pr > 0 AND repo_key <> '' AND NOT EXISTS (
		SELECT 1 FROM merges WHERE merges.repo_key = runs.repo_key AND merges.pr = runs.pr) GROUP BY repo_key, pr ORDER BY max(created) DESC, repo_key, pr LIMIT %d`, where, f.Limit), args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []review.Target
	for rows.Next() {
		var target string
		if err := rows.Scan(&target); err != nil {
			return nil, s.wrap(op, err)
		}
		var t review.Target
		if err := parse("target", target, &t); err != nil {
			return nil, s.wrap(op, err)
		}
		out = append(out, t)
	}
	return out, s.wrap(op, rows.Err())
}
