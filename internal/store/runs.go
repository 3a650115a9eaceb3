package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/review"
)

// RunState is whether a run has ended. Whether a running one is being executed right now is known to the engine alone.
type RunState string

// The states.
const (
	Running  RunState = "running"
	Finished RunState = "finished"
)

// A Run is the record of one run.
type Run struct {
	// ID is {UTC timestamp}_{review_id}; ReviewID its second half (decision 11).
	ID       string
	ReviewID string
	Target   review.Target
	// RepoKey is the target's repository at GitHub, whatever it is called now; empty for local changes, and for runs that are older than
	// the column.
	RepoKey review.RepoKey
	// Folder is the root of the working tree of a local change; empty otherwise.
	Folder string
	// Head is the commit the run began with.
	Head  string
	State RunState
	// Outcome is empty while the run is running.
	Outcome review.Outcome
	// Consensus is that of the result. Lists have that of static_only alone, which means one thing with it and another without.
	Consensus *string
	// Result is nil while the run is running, and in lists.
	Result *review.RunResult
	// Artifacts is the folder of the run's files.
	Artifacts string
	// Created and Updated are set by the store, to the microsecond, in UTC.
	Created time.Time
	Updated time.Time
}

// Where a kill may fall (threats.md K04, K27).
var (
	runRecorded  = failpoint.New("run: recorded")
	beforeFinish = failpoint.New("run: before finish")
)

// CreateRun records that a run began; State, Outcome, Result and the times are the store's. For a run that is recorded
// already it does nothing, so that a resumed run may say so again.
func (s *Store) CreateRun(ctx context.Context, r Run) error { return s.createRun(ctx, r, "") }

// CreateAnswering records that a run began which answers what a comment asks for, both or neither. The error is an *AnsweredError when another
// run does.
func (s *Store) CreateAnswering(ctx context.Context, r Run, ask string) error {
	return s.createRun(ctx, r, ask)
}

func (s *Store) createRun(ctx context.Context, r Run, ask string) error {
	op := "create run " + r.ID
	target, err := text(r.Target)
	if err != nil {
		return s.wrap(op, err)
	}
	now := micros(s.now())
	err = s.tx(ctx, op, func(tx *sql.Tx) error {
		if err := after(ctx, tx, &now, `SELECT MAX(created) FROM runs WHERE lower(repo) = $1 AND pr = $2 AND id <> $3`, strings.ToLower(r.Target.Repo.String()), r.Target.PR, r.ID); err != nil {
			return err
		}
		if r.RepoKey != "" { // whatever it was called
			if err := after(ctx, tx, &now, `SELECT MAX(created) FROM runs WHERE repo_key = $1 AND pr = $2 AND id <> $3`, string(r.RepoKey), r.Target.PR, r.ID); err != nil {
				return err
			}
		}
		if ask != "" {
			answering, _, err := recordAsk(ctx, tx, ask, r.ID, now)
			if err == nil && answering != r.ID {
				err = &AnsweredError{answering}
			}
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, artifacts, created, updated, folder, repo_key)
			VALUES ($1, $2, $3, $4, $5, $6, 'running', '', $7, $8, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
			r.ID, r.ReviewID, r.Target.Repo.String(), r.Target.PR, target, r.Head, r.Artifacts, now, r.Folder, string(r.RepoKey))
		return err
	})
	if err == nil {
		err = s.wrap(op, runRecorded.Hit())
	}
	return err
}

// after sets a time later than all others that a query finds: which is the newest must not depend on clocks, which differ and jump (threats.md T315).
func after(ctx context.Context, tx *sql.Tx, at *int64, query string, args ...any) error {
	var newest sql.NullInt64
	if err := tx.QueryRowContext(ctx, query, args...).Scan(&newest); err != nil {
		return err
	}
	if newest.Valid {
		*at = max(*at, newest.Int64+1)
	}
	return nil
}

// FinishRun records what the run result.Run ended with; said again, the last word counts. ErrNotFound without CreateRun.
func (s *Store) FinishRun(ctx context.Context, result review.RunResult) error {
	op := "finish run " + result.Run
	js, err := text(result)
	if err != nil {
		return s.wrap(op, err)
	}
	if err := beforeFinish.Hit(); err != nil {
		return s.wrap(op, err)
	}
	return s.tx(ctx, op, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE runs SET state = 'finished', outcome = $2, result = $3, updated = $4 WHERE id = $1`,
			result.Run, string(result.Outcome), js, micros(s.now()))
		if err := one(res, err); err != nil || result.Scan == nil {
			return err
		}
		return saveObservations(ctx, tx, result.Run, result.Scan.Observations)
	})
}

// Run finds a run by its id, or by a part that means one run only: the beginning of the id or of its review id, or the
// end. Errors: ErrNotFound, *AmbiguousError.
func (s *Store) Run(ctx context.Context, part string) (Run, error) {
	op := fmt.Sprintf("run %q", part)
	if part == "" {
		return Run{}, s.wrap(op, ErrNotFound)
	}
	var runs []Run
	keep := func(r Run) error {
		runs = append(runs, r)
		return nil
	}
	err := s.runs(ctx, `result, `, `id = $1`, 1, []any{part}, keep)
	if err == nil && len(runs) == 0 {
		// substr instead of LIKE: ids hold underscores. Only the index of ids is read as a whole.
		err = s.runs(ctx, `result, `, `id IN (SELECT id FROM runs WHERE substr(id, 1, $2) = $1 OR substr(review_id, 1, $2) = $1
			OR (length(id) > $2 AND substr(id, length(id) - $2 + 1) = $1) ORDER BY id DESC LIMIT 10)`, 10, []any{part, len(part)}, keep)
	}
	if err != nil {
		return Run{}, s.wrap(op, err)
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	switch len(runs) {
	case 0:
		return Run{}, s.wrap(op, ErrNotFound)
	case 1:
		return runs[0], nil
	}
	return Run{}, &AmbiguousError{Part: part, IDs: ids}
}

// Filter narrows a list of runs; the zero value lets all through.
type Filter struct {
	// Repo is owner/name in any case, with the host before it away from github.com (review.Repo.String).
	Repo string
	// Keys are repositories whatever they are called; nil is any, an empty list none. An empty key is none but where Repo names the
	// repository: then runs are given that were kept without a key.
	Keys []review.RepoKey
	// PR is a pull request's number; 0 is any target.
	PR int
	// State and Outcome are exact; empty is any.
	State   RunState
	Outcome review.Outcome
	// Since leaves out runs that began before it.
	Since time.Time
	// Before is the run that a page of a list ended with; the next page has those that are older. The zero value is the first page.
	Before Mark
	// Limit is the most runs to give; 0 means 100.
	Limit int
}

// A Mark is the place of a run in lists, which are ordered by the time at which runs began.
type Mark struct {
	Created time.Time
	ID      string
}

// ListRuns gives the runs that pass the filter, newest first, without their results.
func (s *Store) ListRuns(ctx context.Context, f Filter) ([]Run, error) {
	where, args := f.where()
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	var runs []Run
	err := s.runs(ctx, `CASE WHEN outcome = 'static_only' THEN result END, `, where, limit, args, func(r Run) error {
		r.Result = nil
		runs = append(runs, r)
		return nil
	})
	return runs, s.wrap("list runs", err)
}

// EachRun calls fn with every run that passes the filter, newest first, with its result, and stops at its first error. The filter's
// limit is no matter. Runs are held one at a time: results are large.
func (s *Store) EachRun(ctx context.Context, f Filter, fn func(Run) error) error {
	where, args := f.where()
	return s.wrap("read runs", s.runs(ctx, `result, `, where, math.MaxInt32, args, fn))
}

// where is the filter as a condition.
func (f Filter) where() (condition string, args []any) {
	var where []string
	add := func(column string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf("%s $%d", column, len(args)))
	}
	if f.Repo != "" {
		add("lower(repo) =", strings.ToLower(f.Repo))
	}
	if f.PR != 0 {
		add("pr =", f.PR)
	}
	if f.Keys != nil {
		var in string
		in, args = among(f.Keys, args)
		if f.Repo != "" && slices.Contains(f.Keys, "") {
			in = strings.Replace(strings.TrimSuffix(in, ")")+", '')", "NULL, ", "", 1)
		}
		where = append(where, "repo_key IN "+in)
	}
	if f.State != "" {
		add("state =", string(f.State))
	}
	if f.Outcome != "" {
		add("outcome =", string(f.Outcome))
	}
	if !f.Since.IsZero() {
		add("created >=", micros(f.Since))
	}
	if !f.Before.Created.IsZero() {
		args = append(args, micros(f.Before.Created), f.Before.ID)
		where = append(where, fmt.Sprintf("(created, id) < ($%d, $%d)", len(args)-1, len(args)))
	}
	if len(where) == 0 {
		where = []string{"1 = 1"}
	}
	return strings.Join(where, " AND "), args
}

// among is a list of keys for a condition; the empty key is left out.
func among(keys []review.RepoKey, args []any) (string, []any) {
	places := []string{"NULL"}
	for _, k := range keys {
		if k != "" {
			args = append(args, string(k))
			places = append(places, fmt.Sprintf("$%d", len(args)))
		}
	}
	if len(places) > 1 {
		places = places[1:] // one alone is found by equality, in the order of an index
	}
	return "(" + strings.Join(places, ", ") + ")", args
}

// runs reads runs, newest first; result is the column, or an expression that spares reading it. where and result are our own text.
func (s *Store) runs(ctx context.Context, result, where string, limit int, args []any, each func(Run) error) error {
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT %sid, review_id, target, head, state, outcome, artifacts, created, updated, folder, repo_key
		FROM runs WHERE %s ORDER BY created DESC, id DESC LIMIT %d`, result, where, limit), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r Run
		var res sql.NullString
		var target string
		var created, updated sql.NullInt64
		if err := rows.Scan(&res, &r.ID, &r.ReviewID, &target, &r.Head, &r.State, &r.Outcome, &r.Artifacts, &created, &updated, &r.Folder, &r.RepoKey); err != nil {
			return err
		}
		r.Created, r.Updated = moment(created), moment(updated)
		if err := parse("target", target, &r.Target); err != nil {
			return err
		}
		if res.Valid {
			r.Result = new(review.RunResult)
			if err := parse("result", res.String, r.Result); err != nil {
				return err
			}
			r.Consensus = r.Result.Consensus
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A Repository has runs; the newest began at Newest, and Name is what it was called then. Without a Key it is all runs of that name that
// were kept without one.
type Repository struct {
	Key    review.RepoKey
	Name   string
	Newest time.Time
}

// repositories looks at two rows of an index for each of them.
const repositories = `WITH RECURSIVE found (repo_key) AS (
	SELECT min(repo_key) FROM runs WHERE repo_key > ''
	UNION ALL SELECT (SELECT min(repo_key) FROM runs WHERE repo_key > found.repo_key) FROM found WHERE found.repo_key IS NOT NULL),
	named (repo) AS (
	SELECT min(repo) FROM runs WHERE repo_key = '' AND repo > ''
	UNION ALL SELECT (SELECT min(repo) FROM runs WHERE repo_key = '' AND repo > named.repo) FROM named WHERE named.repo IS NOT NULL)
	SELECT repo_key, (SELECT repo FROM runs WHERE runs.repo_key = found.repo_key ORDER BY created DESC, id DESC LIMIT 1),
		(SELECT max(created) FROM runs WHERE runs.repo_key = found.repo_key) FROM found WHERE repo_key IS NOT NULL
	UNION ALL SELECT '', repo, (SELECT max(created) FROM runs WHERE runs.repo_key = '' AND runs.repo = named.repo) FROM named WHERE repo IS NOT NULL`

// Repositories are those that have runs, the one with the newest first; local changes are left out.
func (s *Store) Repositories(ctx context.Context) ([]Repository, error) {
	const op = "list repositories"
	rows, err := s.read.QueryContext(ctx, repositories)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Repository
	for rows.Next() {
		var r Repository
		var newest sql.NullInt64
		if err := rows.Scan(&r.Key, &r.Name, &newest); err != nil {
			return nil, s.wrap(op, err)
		}
		r.Newest = moment(newest)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Repository) int {
		return cmp.Or(b.Newest.Compare(a.Newest), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return out, s.wrap(op, rows.Err())
}

// one turns a change of no row into ErrNotFound.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

func missing(err error) bool { return errors.Is(err, sql.ErrNoRows) }
