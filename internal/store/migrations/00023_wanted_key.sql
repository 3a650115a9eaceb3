-- Whose something wanted is shows by the repository's number: others may have its name tomorrow. What is older has none, and is the operator's alone to see.
ALTER TABLE wanted ADD COLUMN repo_key TEXT NOT NULL DEFAULT '';
