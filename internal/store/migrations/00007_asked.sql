-- What comments ask for, and the run that answers it; run is '' for what is answered without one.
CREATE TABLE asked (
	ask     TEXT PRIMARY KEY,
	run     TEXT NOT NULL,
	created BIGINT NOT NULL
);

-- An answer to a comment is an effect of no run: its run is NULL. Nothing else of the table changes.
ALTER TABLE effects RENAME TO effects_of_runs;
DROP INDEX effects_by_run;
CREATE TABLE effects (
	nonce         TEXT PRIMARY KEY,
	kind          TEXT NOT NULL,
	effect_key    TEXT NOT NULL,
	run           TEXT REFERENCES runs (id),
	target        TEXT NOT NULL,
	head          TEXT NOT NULL,
	payload       TEXT NOT NULL,
	payload_hash  TEXT NOT NULL,
	account_login TEXT,
	account_id    BIGINT,
	state         TEXT NOT NULL CHECK (state IN ('intent', 'sent', 'acked', 'absent')),
	attempts      BIGINT NOT NULL,
	created       BIGINT NOT NULL,
	sent_at       BIGINT,
	acked_at      BIGINT,
	ref           TEXT NOT NULL,
	UNIQUE (kind, effect_key)
);
CREATE INDEX effects_by_run ON effects (run, created);

INSERT INTO effects (nonce, kind, effect_key, run, target, head, payload, payload_hash, account_login, account_id, state, attempts, created, sent_at, acked_at, ref)
SELECT nonce, kind, effect_key, run, target, head, payload, payload_hash, account_login, account_id, state, attempts, created, sent_at, acked_at, ref
FROM effects_of_runs;

DROP TABLE effects_of_runs;
