package store

import (
	"context"
	"database/sql"
	"time"
)

// The kinds of incidents.
const (
	// IncidentSecret: an answer held a secret this process knows (threats.md T30). Nothing of the answer is posted, and the
	// secret is to be changed.
	IncidentSecret = "known-secret"
	// IncidentTwice: two comments carry the same nonce (threats.md P1), which GitHub's own promises rule out.
	IncidentTwice = "posted-twice"
)

// An Incident is something that a person must look at, whatever the run ended with.
type Incident struct {
	Run  string
	Kind string
	// Detail says what and where in words, such as the agent's name. Never the secret.
	Detail string
	Seen   time.Time
}

// Incident records one. Said again by a resumed run it stays one.
func (s *Store) Incident(ctx context.Context, run, kind, detail string) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO incidents (run, kind, detail, seen) VALUES ($1, $2, $3, $4) ON CONFLICT (run, kind, detail) DO NOTHING`,
		run, kind, detail, micros(s.now()))
	return s.wrap("record an incident of run "+run, err)
}

// Incidents lists those of a run, or of all runs when run is empty, oldest first.
func (s *Store) Incidents(ctx context.Context, run string) ([]Incident, error) {
	const op = "list incidents"
	rows, err := s.read.QueryContext(ctx, `SELECT run, kind, detail, seen FROM incidents WHERE $1 = '' OR run = $1 ORDER BY seen, run, kind, detail`, run)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	var out []Incident
	for rows.Next() {
		var i Incident
		var seen sql.NullInt64
		if err := rows.Scan(&i.Run, &i.Kind, &i.Detail, &seen); err != nil {
			return nil, s.wrap(op, err)
		}
		i.Seen = moment(seen)
		out = append(out, i)
	}
	return out, s.wrap(op, rows.Err())
}
