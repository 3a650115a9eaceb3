-- Whose run it is stays when a repository is renamed, and is not that of who takes over its name: GitHub's host and number, such as
-- github.com/5; '' for local changes, and for runs that were kept before this.
ALTER TABLE runs ADD COLUMN repo_key TEXT NOT NULL DEFAULT '';
CREATE INDEX runs_by_key ON runs (repo_key, created, id);
CREATE INDEX runs_by_key_and_pull ON runs (repo_key, pr, created);
CREATE INDEX runs_by_key_and_name ON runs (repo_key, repo, created, id);

CREATE TABLE sums_by_key (
	repo_key TEXT NOT NULL,
	repo     TEXT NOT NULL, -- '' for local changes, '*' for all together
	day      BIGINT NOT NULL, -- microseconds at which it began, in UTC
	runs     BIGINT NOT NULL,
	figures  TEXT NOT NULL,
	PRIMARY KEY (repo, day, repo_key)
);
INSERT INTO sums_by_key SELECT '', repo, day, runs, figures FROM sums;
DROP TABLE sums;
ALTER TABLE sums_by_key RENAME TO sums;
CREATE INDEX sums_of_runs ON sums (day, repo, runs);
CREATE INDEX sums_by_key ON sums (repo_key, day);
