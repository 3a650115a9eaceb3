package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/prloop/prloop/internal/effects"
	"github.com/prloop/prloop/review"
)

// Comments that were begun before effects had kinds are found under their keys, in the state they were in.
func TestOlderCommentsAreEffects(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "prloop.db")
	older(t, path, 4, func(db *sql.DB) {
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := db.ExecContext(ctx, query, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`INSERT INTO runs (id, review_id, repo, pr, target, head, state, outcome, artifacts, created, updated) VALUES ($1, '', '', 7, '{}', '', 'running', '', '', 0, 0)`, run1)
		for i, state := range []OutboxState{StateIntent, StateSent, StateAbsent, StateAcked} {
			var sent, acked, id, poster any
			url, attempts := "", 0
			if state != StateIntent {
				sent, attempts = micros(clock), 1
			}
			if state == StateAcked {
				acked, id, url = micros(clock), 42, "https://github.com/octo/demo/pull/7#issuecomment-42"
			}
			if state != StateAbsent { // a row of before posters were kept
				poster = "prloop-bot"
			}
			body := "text of " + string(state)
			exec(`INSERT INTO outbox (nonce, run, round, op, part, parts, target, head, body, body_hash, state, attempts, created, sent_at, acked_at, comment_id, comment_url, poster_login, poster_id)
				VALUES ($1, $2, 2, 'report', $3, 4, '{"repo":{"host":"github.com","owner":"octo","name":"demo"},"pr":7}', 'abc', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL)`,
				effects.CommentNonce("n", i+1), run1, i+1, body, hash(body), string(state), attempts, micros(clock)+int64(i), sent, acked, id, url, poster)
		}
	})
	s := open(t, path)
	all, err := s.Outbox(ctx, run1)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d effects, %v; want 4", len(all), err)
	}
	for i, e := range all {
		key := effects.CommentKey(run1, 2, "report", i+1)
		if e.Kind != (effects.Comment{}).Name() || e.Key != key || e.Target != target || e.Head != "abc" || e.Payload != "text of "+string(e.State) {
			t.Errorf("effect %d is %+v", i+1, e)
		}
		mona := review.Person{Login: "mona", ID: 43}
		got, err := s.Intent(ctx, effects.Effect{Kind: "comment", Key: key, Nonce: "another", Run: run1, Target: target, Head: "abc", Payload: "another", As: mona})
		want := e.Effect
		switch e.State {
		case StateIntent:
			want.As = mona
		case StateAbsent:
			want.As, want.SentAt = mona, time.Time{}
		case StateSent, StateAcked:
			if want.As.Login != "prloop-bot" || !want.SentAt.Equal(clock) || (e.State == StateAcked) != (want.Ref == "https://github.com/octo/demo/pull/7#issuecomment-42") {
				t.Errorf("%s: %+v", e.State, want)
			}
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s intended again (-want +got): %v\n%s", e.State, err, diff)
		}
	}
}

// older makes a database with the tables of an earlier version, and whatever fill puts there.
func older(t *testing.T, path string, version int64, fill func(*sql.DB)) {
	t.Helper()
	db, err := sqliteFile{path}.connect(1, "_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := steps(goose.DialectSQLite3, db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	fill(db)
}
