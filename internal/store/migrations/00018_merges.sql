-- Merged pull requests, and what became of the findings that were posted on them. Rows outlive runs.
CREATE TABLE merges (
	repo_key TEXT NOT NULL,
	repo     TEXT NOT NULL, -- what it was called then
	pr       BIGINT NOT NULL,
	head     TEXT NOT NULL, -- the last commit
	findings TEXT NOT NULL, -- JSON
	recorded BIGINT NOT NULL,
	PRIMARY KEY (repo_key, pr)
);
CREATE INDEX merges_by_time ON merges (recorded);
