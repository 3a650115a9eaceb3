-- Written for SQLite and PostgreSQL alike: times are BIGINT microseconds since 1970 in UTC, JSON is TEXT, unknown is NULL.

CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
);

CREATE TABLE runs (
	id        TEXT PRIMARY KEY,
	review_id TEXT NOT NULL,
	repo      TEXT NOT NULL,
	pr        BIGINT NOT NULL,
	target    TEXT NOT NULL,
	head      TEXT NOT NULL,
	state     TEXT NOT NULL CHECK (state IN ('running', 'finished')),
	outcome   TEXT NOT NULL,
	result    TEXT,
	artifacts TEXT NOT NULL,
	created   BIGINT NOT NULL,
	updated   BIGINT NOT NULL
);
CREATE INDEX runs_by_target ON runs (repo, pr, created);
CREATE INDEX runs_by_time ON runs (created);

CREATE TABLE rounds (
	run     TEXT NOT NULL REFERENCES runs (id),
	round   BIGINT NOT NULL CHECK (round > 0),
	head    TEXT NOT NULL,
	verdict TEXT NOT NULL,
	receipt TEXT NOT NULL,
	saved   BIGINT NOT NULL,
	PRIMARY KEY (run, round)
);

CREATE TABLE findings (
	run         TEXT NOT NULL,
	round       BIGINT NOT NULL,
	ord         BIGINT NOT NULL,
	reviewer    TEXT NOT NULL,
	priority    TEXT NOT NULL,
	file        TEXT NOT NULL,
	line        BIGINT,
	fingerprint TEXT NOT NULL,
	finding     TEXT NOT NULL,
	PRIMARY KEY (run, round, ord),
	FOREIGN KEY (run, round) REFERENCES rounds (run, round) ON DELETE CASCADE
);
CREATE INDEX findings_by_fingerprint ON findings (fingerprint);

CREATE TABLE usage (
	run           TEXT NOT NULL,
	round         BIGINT NOT NULL,
	agent         TEXT NOT NULL,
	role          TEXT NOT NULL,
	llm_calls     BIGINT NOT NULL,
	tool_calls    BIGINT NOT NULL,
	input_tokens  BIGINT,
	cached_tokens BIGINT,
	output_tokens BIGINT,
	cost_usd      DOUBLE PRECISION,
	seconds       DOUBLE PRECISION NOT NULL,
	PRIMARY KEY (run, round, agent),
	FOREIGN KEY (run, round) REFERENCES rounds (run, round) ON DELETE CASCADE
);

-- The outbox. One row for each thing to be said on GitHub; never deleted, never given a second nonce.
CREATE TABLE outbox (
	nonce       TEXT PRIMARY KEY,
	run         TEXT NOT NULL REFERENCES runs (id),
	round       BIGINT NOT NULL,
	op          TEXT NOT NULL,
	part        BIGINT NOT NULL,
	parts       BIGINT NOT NULL,
	target      TEXT NOT NULL,
	head        TEXT NOT NULL,
	body        TEXT NOT NULL,
	body_hash   TEXT NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('intent', 'sent', 'acked', 'absent')),
	attempts    BIGINT NOT NULL,
	created     BIGINT NOT NULL,
	sent_at     BIGINT,
	acked_at    BIGINT,
	comment_id  BIGINT,
	comment_url TEXT NOT NULL,
	UNIQUE (run, round, op, part)
);
