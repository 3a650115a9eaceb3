package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/prloop/prloop/review"
)

// A Noticed is an observation of a run's scout. The result of the run is the record of it; what stands here is made of that, to be found.
type Noticed struct {
	// Run and Ord name it, Key, Repo and PR are those of the run, and At is when the run began.
	Run  string
	Ord  int
	Key  review.RepoKey
	Repo string
	PR   int
	At   time.Time
	review.Observation
}

// NoticedFilter narrows a list of observations; the zero value lets all through.
type NoticedFilter struct {
	// Keys are repositories; nil is any, an empty list none.
	Keys []review.RepoKey
	// Tag is a whole tag, whatever its case. Text is words, all of which stand in the observation or in the name of its file.
	Tag, Text string
	// Before is the observation that a page of a list ended with. Limit is the most to give; 0 means 100.
	Before NoticedMark
	Limit  int
}

// A NoticedMark is the place of an observation in lists, the newest first.
type NoticedMark struct {
	At  time.Time
	Run string
	Ord int
}

// What is kept of one observation to be found by: more of it is not looked for.
const (
	mostWords   = 100
	longestWord = 40
	longestTag  = 100
	searchWords = 5
)

// tagOf is a tag as it is found by.
func tagOf(tag string) string {
	return cut(strings.ToLower(strings.Join(strings.Fields(tag), " ")), longestTag)
}

// cut shortens a text to so many runes.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}

// wordsOf are the words of texts as they are found by: letters and digits, in lower case, each once, sorted.
func wordsOf(texts ...string) []string {
	var out []string
	for _, t := range texts {
		for _, w := range strings.FieldsFunc(strings.ToLower(strings.ToValidUTF8(t, " ")), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			out = append(out, cut(w, longestWord))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostWords)]
}

// storable is a text as every database takes it: PostgreSQL has no NUL and nothing that is no UTF-8.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// saveObservations replaces what is found of a run's observations.
func saveObservations(ctx context.Context, tx *sql.Tx, run string, list []review.Observation) error {
	if err := forgetObservations(ctx, tx, run); err != nil || len(list) == 0 {
		return err
	}
	var repo, key string
	var pr, created int64
	if err := tx.QueryRowContext(ctx, `SELECT repo, repo_key, pr, created FROM runs WHERE id = $1`, run).Scan(&repo, &key, &pr, &created); err != nil {
		return err
	}
	for i, o := range list {
		o.Tag, o.Text, o.File = storable(o.Tag), storable(o.Text), storable(o.File)
		if _, err := tx.ExecContext(ctx, `INSERT INTO observations (run, ord, repo, pr, created, tag, label, body, file, line, repo_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			run, i, repo, pr, created, tagOf(o.Tag), o.Tag, o.Text, o.File, o.Line, key); err != nil {
			return err
		}
		for _, w := range wordsOf(o.Tag, o.Text, o.File) {
			if _, err := tx.ExecContext(ctx, `INSERT INTO observation_words (run, ord, word, repo_key, created) VALUES ($1, $2, $3, $4, $5)`, run, i, w, key, created); err != nil {
				return err
			}
		}
	}
	return nil
}

func forgetObservations(ctx context.Context, tx *sql.Tx, run string) error {
	for _, table := range []string{"observation_words", "observations"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE run = $1`, run); err != nil {
			return err
		}
	}
	return nil
}

// Observations gives those that pass the filter, newest first.
func (s *Store) Observations(ctx context.Context, f NoticedFilter) ([]Noticed, error) {
	const op = "list observations"
	query, args := f.query()
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Noticed
	for rows.Next() {
		var n Noticed
		var created sql.NullInt64
		if err := rows.Scan(&n.Run, &n.Ord, &n.Key, &n.Repo, &n.PR, &created, &n.Tag, &n.Text, &n.File, &n.Line); err != nil {
			return nil, s.wrap(op, err)
		}
		n.At = moment(created)
		out = append(out, n)
	}
	return out, s.wrap(op, rows.Err())
}

// query reads along an index in the order of the list: that of the longest word, as it is probably the rarest, or that of the observations.
func (f NoticedFilter) query() (query string, args []any) {
	place := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	words := wordsOf(f.Text)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	words = words[:min(len(words), searchWords)]
	from, lead := `observations o`, "o"
	var where []string
	for i, w := range words {
		if i == 0 {
			from, lead = `observation_words w JOIN observations o ON o.run = w.run AND o.ord = w.ord`, "w"
			where = append(where, `w.word = `+place(w))
			continue
		}
		where = append(where, `EXISTS (SELECT 1 FROM observation_words x WHERE x.run = o.run AND x.ord = o.ord AND x.word = `+place(w)+`)`)
	}
	if f.Keys != nil {
		var in string
		in, args = among(f.Keys, args)
		where = append(where, lead+`.repo_key IN `+in)
	}
	if f.Tag != "" {
		where = append(where, `o.tag = `+place(tagOf(f.Tag)))
	}
	if !f.Before.At.IsZero() {
		where = append(where, fmt.Sprintf(`(%[1]s.created, %[1]s.run, %[1]s.ord) < (%[2]s, %[3]s, %[4]s)`, lead, place(micros(f.Before.At)), place(f.Before.Run), place(f.Before.Ord)))
	}
	if len(where) == 0 {
		where = []string{"1 = 1"}
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 100
	}
	return fmt.Sprintf(`SELECT o.run, o.ord, o.repo_key, o.repo, o.pr, o.created, o.label, o.body, o.file, o.line FROM %s WHERE %s
		ORDER BY %[3]s.created DESC, %[3]s.run DESC, %[3]s.ord DESC LIMIT %d`, from, strings.Join(where, " AND "), lead, limit), args
}
