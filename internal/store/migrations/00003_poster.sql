-- The account a comment is posted as, which a run that is resumed as somebody else still has to find. NULL for
-- rows of before.
ALTER TABLE outbox ADD COLUMN poster_login TEXT;
ALTER TABLE outbox ADD COLUMN poster_id BIGINT;
