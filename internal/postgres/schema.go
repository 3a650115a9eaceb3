package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// processSetting is the setting by which a connection names its process.
	processSetting = "prloop.process"
	// lostCode is the error of the trigger. Class PR is nobody else's.
	lostCode = "PRL01"
	// aloneKey is the advisory lock of whoever changes the database as a whole.
	aloneKey = 0x70726c6f6f70 // "prloop"
	// clock is the database's, in microseconds, at which a statement runs.
	clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
)

// tables are what this package keeps. All of it may be said again. processes is never updated, so that asking for a row of it under
// whatever isolation cannot fail for a heartbeat.
const tables = `
CREATE SCHEMA IF NOT EXISTS prloop;
CREATE TABLE IF NOT EXISTS prloop.processes (
	id    TEXT PRIMARY KEY,
	began BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS prloop.heartbeats (
	process TEXT PRIMARY KEY REFERENCES prloop.processes (id) ON DELETE CASCADE,
	lease   BIGINT NOT NULL,
	expires BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS prloop.run_locks (
	run     TEXT PRIMARY KEY,
	process TEXT NOT NULL,
	taken   BIGINT NOT NULL
);
CREATE OR REPLACE FUNCTION prloop.fence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	who TEXT := current_setting('` + processSetting + `', true);
BEGIN
	IF who IS NULL OR who = '' THEN -- a person with psql, a backup
		RETURN NULL;
	END IF;
	PERFORM 1 FROM prloop.processes WHERE id = who FOR KEY SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'process % was silent for too long, and others may have what it had', who USING ERRCODE = '` + lostCode + `';
	END IF;
	RETURN NULL;
END $$;`

// made tells whether tables is there as it is here.
const made = `SELECT to_regclass('prloop.run_locks') IS NOT NULL AND to_regprocedure('prloop.fence()') IS NOT NULL`

// unfenced are the tables of a schema that have no trigger yet. Those of this package say themselves whose they are.
const unfenced = `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind = 'r' AND n.nspname = $1 AND NOT (n.nspname = 'prloop' AND c.relname IN ('processes', 'heartbeats', 'run_locks'))
	AND NOT EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'prloop_fence')`

// alone does fn while no other process changes the database as a whole. Whoever waits asks again and again: a wait inside
// PostgreSQL would hold up DBOS's CREATE INDEX CONCURRENTLY.
func alone(ctx context.Context, c *pgx.ConnConfig, fn func(*pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // ends the lock
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		var mine bool
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, int64(aloneKey)).Scan(&mine); err != nil {
			return err
		}
		if mine {
			return fn(conn)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// fence puts the trigger on the tables of a schema.
func fence(ctx context.Context, conn *pgx.Conn, schema string) error {
	rows, err := conn.Query(ctx, unfenced, schema)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, fmt.Sprintf(`CREATE OR REPLACE TRIGGER prloop_fence BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT EXECUTE FUNCTION prloop.fence()`,
			pgx.Identifier{schema, name}.Sanitize())); err != nil {
			return err
		}
	}
	return nil
}
