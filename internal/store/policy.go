package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prloop/prloop/internal/failpoint"
	"github.com/prloop/prloop/internal/policy"
)

// policySaving is where a kill must leave all of a row's change, or nothing of it (threats.md K68).
var policySaving = failpoint.New("policy: saving")

// Policy gives the row of a repository; the zero Version where nothing was ever decided.
func (s *Store) Policy(ctx context.Context, host string, id int64) (policy.Row, error) {
	row, err := readPolicy(ctx, s.read, host, id)
	return row, s.wrap(fmt.Sprintf("read the policy of %s repository %d", host, id), err)
}

// Policies gives all rows, by host and name.
func (s *Store) Policies(ctx context.Context) (rows []policy.Row, err error) {
	err = eachPolicy(ctx, s.read, `ORDER BY host, repo, repo_id`, nil, func(r policy.Row) { rows = append(rows, r) })
	return rows, s.wrap("read policies", err)
}

// SavePolicy makes a row what want says, if it is still of want's version, and keeps each change with who made it. It gives the row as
// it is then, and what changed. The error is a *policy.ConflictError when somebody else was first.
func (s *Store) SavePolicy(ctx context.Context, want policy.Row, by string) (row policy.Row, changes []policy.Change, err error) {
	err = s.tx(ctx, "save the policy of "+want.Repo.String(), func(tx *sql.Tx) error {
		row, changes, err = s.savePolicy(ctx, tx, want, by)
		if err != nil {
			return err
		}
		return policySaving.Hit()
	})
	if err != nil {
		return policy.Row{}, nil, err
	}
	return row, changes, nil
}

// SavePolicies saves several rows, or none of them.
func (s *Store) SavePolicies(ctx context.Context, want []policy.Row, by string) (changes []policy.Change, err error) {
	err = s.tx(ctx, "save policies", func(tx *sql.Tx) error {
		for _, w := range want {
			_, c, err := s.savePolicy(ctx, tx, w, by)
			if err != nil {
				return err
			}
			changes = append(changes, c...)
			if err := policySaving.Hit(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

func (s *Store) savePolicy(ctx context.Context, tx *sql.Tx, want policy.Row, by string) (policy.Row, []policy.Change, error) {
	columns := policy.Columns()
	have, err := readPolicy(ctx, tx, want.Host, want.ID)
	if err != nil {
		return have, nil, err
	}
	if have.Version != want.Version {
		return have, nil, conflict(ctx, tx, have, want.Version)
	}
	changes := policy.Diff(have.Columns, want.Columns)
	if len(changes) == 0 {
		return have, nil, nil
	}
	now := micros(s.now())
	if err := after(ctx, tx, &now, `SELECT MAX(changed) FROM repo_policy_changes WHERE repo_key = $1`, string(want.Key())); err != nil {
		return have, nil, err
	}
	next := policy.Row{Repo: want.Repo, Version: have.Version + 1, Columns: want.Columns.Clone()}
	names := []string{"host", "repo_id", "repo", "version", "updated"}
	args := []any{next.Host, next.ID, next.Name, next.Version, now}
	for _, c := range columns {
		names, args = append(names, c.Name), append(args, toColumn(next.Columns[c.Name]))
	}
	var places, sets []string
	for i, name := range names {
		places = append(places, fmt.Sprintf("$%d", i+1))
		if i > 1 {
			sets = append(sets, name+" = excluded."+name)
		}
	}
	// Two writers of a new row both see none; one of them inserts, and the other updates nothing.
	res, err := tx.ExecContext(ctx, `INSERT INTO repo_policy (`+strings.Join(names, ", ")+`) VALUES (`+strings.Join(places, ", ")+`)
		ON CONFLICT (host, repo_id) DO UPDATE SET `+strings.Join(sets, ", ")+` WHERE repo_policy.version = excluded.version - 1`, args...)
	if err != nil {
		return have, nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		if have, again := readPolicy(ctx, tx, want.Host, want.ID); err == nil && again == nil {
			err = conflict(ctx, tx, have, want.Version)
		}
		return have, nil, err
	}
	for i := range changes {
		c := &changes[i]
		c.Repo, c.Version, c.By, c.At = next.Repo, next.Version, by, time.UnixMicro(now).UTC()
		if _, err := tx.ExecContext(ctx, `INSERT INTO repo_policy_changes (host, repo_id, version, column_name, repo, from_value, to_value, changed_by, changed, repo_key)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, c.Host, c.ID, c.Version, c.Column, c.Name, null(c.From), null(c.To), by, now, string(c.Key())); err != nil {
			return have, nil, err
		}
	}
	return next, changes, nil
}

func null(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// conflict is the error of who comes second.
func conflict(ctx context.Context, q queryer, have policy.Row, version int64) error {
	since, err := policyChanges(ctx, q, changesSince, 1000, have.Host, have.ID, version)
	if err != nil {
		return err
	}
	return &policy.ConflictError{Have: have, Since: since}
}

// PolicyChanges lists the changes that pass the filter, newest first.
func (s *Store) PolicyChanges(ctx context.Context, f policy.ChangeFilter) ([]policy.Change, error) {
	rest, limit, args := whereChanged(f)
	out, err := policyChanges(ctx, s.read, rest, limit, args...)
	return out, s.wrap("read changes of policies", err)
}

// whereChanged is a filter as the conditions and the order of a query, each of which an index has.
func whereChanged(f policy.ChangeFilter) (rest string, limit int, args []any) {
	rest = `WHERE 1 = 1`
	if f.Keys != nil {
		var in string
		in, args = among(f.Keys, args)
		rest += ` AND repo_key IN ` + in
	}
	if b := f.Before; !b.At.IsZero() {
		n := len(args)
		rest += fmt.Sprintf(` AND (changed, repo_key, version, column_name) < ($%d, $%d, $%d, $%d)`, n+1, n+2, n+3, n+4)
		args = append(args, micros(b.At), string(b.Key), b.Version, b.Column)
	}
	return rest + ` ORDER BY changed DESC, repo_key DESC, version DESC, column_name DESC`, cmp.Or(f.Limit, 100), args
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// changesSince are the conditions and the order of changes of one repository that are later than a version.
const changesSince = `WHERE host = $1 AND repo_id = $2 AND version > $3 ORDER BY version DESC, column_name DESC`

// readChanges is the query of changes, but for its conditions and order.
const readChanges = `SELECT host, repo_id, repo, version, column_name, from_value, to_value, changed_by, changed FROM repo_policy_changes `

func policyChanges(ctx context.Context, q queryer, rest string, limit int, args ...any) (out []policy.Change, err error) {
	rows, err := q.QueryContext(ctx, fmt.Sprintf(`%s%s LIMIT %d`, readChanges, rest, limit), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c policy.Change
		var from, to sql.NullString
		var at int64
		if err := rows.Scan(&c.Host, &c.ID, &c.Name, &c.Version, &c.Column, &from, &to, &c.By, &at); err != nil {
			return nil, err
		}
		c.From, c.To, c.At = from.String, to.String, time.UnixMicro(at).UTC()
		out = append(out, c)
	}
	return out, rows.Err()
}

func readPolicy(ctx context.Context, q queryer, host string, id int64) (policy.Row, error) {
	row := policy.Row{Repo: policy.Repo{Host: host, ID: id}, Columns: policy.Values{}}
	err := eachPolicy(ctx, q, `WHERE host = $1 AND repo_id = $2`, []any{host, id}, func(r policy.Row) { row = r })
	return row, err
}

func eachPolicy(ctx context.Context, q queryer, rest string, args []any, fn func(policy.Row)) (err error) {
	columns := policy.Columns()
	names := []string{"host", "repo_id", "repo", "version"}
	for _, c := range columns {
		names = append(names, c.Name)
	}
	rows, err := q.QueryContext(ctx, `SELECT `+strings.Join(names, ", ")+` FROM repo_policy `+rest, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row := policy.Row{Columns: policy.Values{}}
		to := []any{&row.Host, &row.ID, &row.Name, &row.Version}
		held := make([]any, len(columns))
		for i, c := range columns {
			switch c.Kind {
			case policy.Number:
				held[i] = &sql.NullFloat64{}
			case policy.Bool, policy.Int:
				held[i] = &sql.NullInt64{}
			default:
				held[i] = &sql.NullString{}
			}
			to = append(to, held[i])
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for i, c := range columns {
			if v, err := fromColumn(c, held[i]); err != nil {
				return err
			} else if v != nil {
				row.Columns[c.Name] = v
			}
		}
		fn(row)
	}
	return rows.Err()
}

// toColumn is a value as the database keeps it.
func toColumn(v any) any {
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case []string:
		return policy.Encode(v)
	}
	return v
}

// fromColumn reads it. What is not a value of its column was not written by prloop: a run must not take it for nothing.
func fromColumn(c policy.Column, held any) (any, error) {
	var v any
	switch h := held.(type) {
	case *sql.NullFloat64:
		if !h.Valid {
			return nil, nil
		}
		v = h.Float64
	case *sql.NullInt64:
		if !h.Valid {
			return nil, nil
		}
		v = h.Int64
		if c.Kind == policy.Bool {
			v = h.Int64 != 0
		}
	case *sql.NullString:
		if !h.Valid {
			return nil, nil
		}
		v = h.String
		if c.Kind == policy.List {
			var list []string
			if err := json.Unmarshal([]byte(h.String), &list); err != nil {
				return nil, fmt.Errorf("stored policy: %s: %w", c.Name, err)
			}
			v = list
		}
	}
	checked, fault := c.Check(v)
	if fault != nil {
		return nil, fmt.Errorf("stored policy: %s", fault)
	}
	return checked, nil
}
