package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prloop/prloop/review"
)

// Figures are numbers that can be added up, by what they are about: a part, a name in it, and which number it is, such as
// "category", "bug", "findings".
type Figures map[string]map[string]map[string]float64

// Add adds to one figure.
func (f Figures) Add(part, name, figure string, value float64) {
	if f[part] == nil {
		f[part] = map[string]map[string]float64{}
	}
	if f[part][name] == nil {
		f[part][name] = map[string]float64{}
	}
	f[part][name][figure] += value
}

// AddAll adds to all of them.
func (f Figures) AddAll(other Figures) {
	for part, names := range other {
		for name, figures := range names {
			for figure, value := range figures {
				f.Add(part, name, figure, value)
			}
		}
	}
}

// A Day is what the finished runs of a repository come to that began on one day.
type Day struct {
	// Began is when it did, in UTC. Repo is as in Filter, "" for local changes, and Everywhere for all runs together.
	Began time.Time
	Repo  string
	// Key is as in Run; empty for Everywhere.
	Key review.RepoKey
	// Runs is how many were added up.
	Runs    int
	Figures Figures
}

// Everywhere stands for all repositories and local changes.
const Everywhere = "*"

// day is when the day of a time began.
func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// summedAtOnce is how many runs one transaction adds.
const summedAtOnce = 500

// AddUp adds the figures of the finished runs that have not been added yet: each run once, with the result that it has now, whoever else
// adds at the same time. The sums outlive the runs.
func (s *Store) AddUp(ctx context.Context, of func(Run) Figures) error {
	const op = "add up runs"
	for {
		var runs []Run
		var figures []Figures
		err := s.runs(ctx, `result, `, `summed = 0 AND state = 'finished'`, summedAtOnce, nil, func(r Run) error {
			figures = append(figures, of(r))
			r.Result = nil
			runs = append(runs, r)
			return nil
		})
		if err != nil {
			return s.wrap(op, err)
		}
		if len(runs) == 0 {
			return nil
		}
		if err := s.tx(ctx, op, func(tx *sql.Tx) error { return addUp(ctx, tx, runs, figures) }); err != nil {
			return err
		}
	}
}

// addUp adds the figures of those runs that nobody has added meanwhile.
func addUp(ctx context.Context, tx *sql.Tx, runs []Run, figures []Figures) error {
	if err := lockSums(ctx, tx); err != nil {
		return err
	}
	type at struct {
		repo  string
		key   review.RepoKey
		began time.Time
	}
	sums := map[at]*Day{}
	for i, run := range runs {
		res, err := tx.ExecContext(ctx, `UPDATE runs SET summed = 1 WHERE id = $1 AND summed = 0`, run.ID)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		began := day(run.Created)
		for _, k := range []at{{run.Target.Repo.String(), run.RepoKey, began}, {Everywhere, "", began}} {
			if sums[k] == nil {
				sums[k] = &Day{Began: k.began, Repo: k.repo, Key: k.key, Figures: Figures{}}
			}
			sums[k].Runs++
			sums[k].Figures.AddAll(figures[i])
		}
	}
	for _, sum := range sums {
		if err := addSum(ctx, tx, *sum); err != nil {
			return err
		}
	}
	return nil
}

// lockSums lets one process add at a time; the others wait here until its transaction ends.
func lockSums(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('sums', '') ON CONFLICT (name) DO UPDATE SET value = ''`)
	return err
}

// addSum adds to what is kept of a day.
func addSum(ctx context.Context, tx *sql.Tx, sum Day) error {
	var before string
	err := tx.QueryRowContext(ctx, `SELECT figures FROM sums WHERE repo = $1 AND day = $2 AND repo_key = $3`, sum.Repo, micros(sum.Began), string(sum.Key)).Scan(&before)
	if err != nil && !missing(err) {
		return err
	}
	if err == nil {
		var f Figures
		if err := parse("figures", before, &f); err != nil {
			return err
		}
		sum.Figures.AddAll(f)
	}
	after, err := text(sum.Figures)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO sums (repo, day, runs, figures, repo_key) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (repo, day, repo_key) DO UPDATE SET runs = sums.runs + excluded.runs, figures = excluded.figures`, sum.Repo, micros(sum.Began), sum.Runs, after, string(sum.Key))
	return err
}

// Over is what sums are about: runs that began on the day of a time or later, in repositories by their names, of which Everywhere is one,
// or, where Keys is not nil, by their keys.
type Over struct {
	Since time.Time
	Repos []string
	Keys  []review.RepoKey
}

// from is when the first day began.
func (o Over) from() int64 {
	if o.Since.IsZero() {
		return math.MinInt64
	}
	return micros(day(o.Since))
}

// Days are the days of each repository that had runs, in order of days and repositories.
func (s *Store) Days(ctx context.Context, o Over) ([]Day, error) {
	const op = "read sums"
	places, args := []string{"NULL"}, []any{o.from()}
	for _, r := range o.Repos {
		args = append(args, r)
		places = append(places, fmt.Sprintf("$%d", len(args)))
	}
	which := "repo IN (" + strings.Join(places, ", ") + ")"
	if o.Keys != nil {
		which, args = among(o.Keys, []any{o.from()})
		which = "repo_key IN " + which
	}
	rows, err := s.read.QueryContext(ctx, `SELECT repo, repo_key, day, runs, figures FROM sums WHERE `+which+` AND day >= $1`, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Day
	for rows.Next() {
		var d Day
		var began int64
		var figures string
		if err := rows.Scan(&d.Repo, &d.Key, &began, &d.Runs, &figures); err != nil {
			return nil, s.wrap(op, err)
		}
		d.Began = time.UnixMicro(began).UTC()
		if err := parse("figures", figures, &d.Figures); err != nil {
			return nil, s.wrap(op, err)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Day) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Key, b.Key))
	})
	return out, s.wrap(op, rows.Err())
}

// busiest reads an index alone.
const busiest = `SELECT repo FROM sums WHERE day >= $1 AND repo <> '' AND repo <> '*' GROUP BY repo ORDER BY SUM(runs) DESC, repo LIMIT %d`

// Busiest are the repositories with the most runs that began on the day of a time or later.
func (s *Store) Busiest(ctx context.Context, since time.Time, limit int) ([]string, error) {
	const op = "find the busiest repositories"
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(busiest, limit), Over{Since: since}.from())
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var repo string
		if err := rows.Scan(&repo); err != nil {
			return nil, s.wrap(op, err)
		}
		out = append(out, repo)
	}
	return out, s.wrap(op, rows.Err())
}
