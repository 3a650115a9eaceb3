-- Changes of policies are listed by the repositories that somebody may see, page by page: each list in the order of an index.
ALTER TABLE repo_policy_changes ADD COLUMN repo_key TEXT NOT NULL DEFAULT '';
UPDATE repo_policy_changes SET repo_key = lower(host) || '/' || repo_id;
DROP INDEX repo_policy_changes_by_time;
CREATE INDEX repo_policy_changes_by_time ON repo_policy_changes (changed, repo_key, version, column_name);
CREATE INDEX repo_policy_changes_by_key ON repo_policy_changes (repo_key, changed, version, column_name);
