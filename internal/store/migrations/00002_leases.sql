-- One run per pull request. Rows are never deleted, so that the token of a key only ever rises. No reference to
-- runs: the lease is taken first.
CREATE TABLE leases (
	lease_key TEXT PRIMARY KEY,
	token     BIGINT NOT NULL CHECK (token > 0),
	run       TEXT NOT NULL,
	taken     BIGINT NOT NULL,
	expires   BIGINT NOT NULL,
	released  BIGINT NOT NULL CHECK (released IN (0, 1))
);

-- threats.md T30: things a person must look at. detail never holds the secret itself.
CREATE TABLE incidents (
	run    TEXT NOT NULL,
	kind   TEXT NOT NULL,
	detail TEXT NOT NULL,
	seen   BIGINT NOT NULL,
	PRIMARY KEY (run, kind, detail)
);
CREATE INDEX incidents_by_time ON incidents (seen);
