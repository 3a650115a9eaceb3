-- Whether a finder looks for context before a full review.
ALTER TABLE repo_policy ADD COLUMN context_for_full BIGINT CHECK (context_for_full IN (0, 1));
