-- Lists of runs as people filter them, newest first.
CREATE INDEX runs_by_repo ON runs (repo, created, id);
CREATE INDEX runs_by_outcome ON runs (outcome, created, id);
CREATE INDEX runs_by_state ON runs (state, created, id);
DROP INDEX runs_by_time;
CREATE INDEX runs_by_time ON runs (created, id);
