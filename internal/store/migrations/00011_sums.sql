-- Figures of finished runs, added up by day and repository, so that nobody reads the results of all runs for them.
CREATE TABLE sums (
	repo    TEXT NOT NULL, -- '' for local changes, '*' for all together
	day     BIGINT NOT NULL, -- microseconds at which it began, in UTC
	runs    BIGINT NOT NULL,
	figures TEXT NOT NULL,
	PRIMARY KEY (repo, day)
);
CREATE INDEX sums_of_runs ON sums (day, repo, runs);

ALTER TABLE runs ADD COLUMN summed BIGINT NOT NULL DEFAULT 0 CHECK (summed IN (0, 1));
CREATE INDEX runs_to_sum ON runs (created, id) WHERE summed = 0;

-- Runs are found by a part of their id.
CREATE INDEX runs_by_parts ON runs (id, review_id);
