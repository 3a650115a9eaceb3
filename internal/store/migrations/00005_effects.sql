-- The outbox. One row for each effect on GitHub, of any kind; never deleted, never given a second nonce. The key of a comment is
-- that of effects.CommentKey, so that a run that was begun before finds its rows. account_* is NULL where nobody kept it.
CREATE TABLE effects (
	nonce         TEXT PRIMARY KEY,
	kind          TEXT NOT NULL,
	effect_key    TEXT NOT NULL,
	run           TEXT NOT NULL REFERENCES runs (id),
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
SELECT nonce, 'comment', run || '/' || round || '/' || op || '/' || part, run, target, head, body, body_hash, poster_login, poster_id, state, attempts, created, sent_at, acked_at, comment_url
FROM outbox;

DROP TABLE outbox;
