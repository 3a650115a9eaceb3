-- Labels of pull requests that are reviewed in full at once; JSON, as the other lists are.
ALTER TABLE repo_policy ADD COLUMN auto_full_labels TEXT;
