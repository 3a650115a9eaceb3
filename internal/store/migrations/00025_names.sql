-- GitHub's names know no case: runs are found by them however they are spelled.
DROP INDEX runs_by_target;
DROP INDEX runs_by_repo;
CREATE INDEX runs_by_target ON runs (lower(repo), pr, created);
CREATE INDEX runs_by_repo ON runs (lower(repo), created, id);
