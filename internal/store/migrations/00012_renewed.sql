-- How often something had been asked for when a commit was last to be looked at anew: that holds while it is more than was seen to.
ALTER TABLE wanted ADD COLUMN renewed BIGINT NOT NULL DEFAULT 0;
UPDATE wanted SET renewed = asked WHERE anew = 1;
ALTER TABLE wanted DROP COLUMN anew;
