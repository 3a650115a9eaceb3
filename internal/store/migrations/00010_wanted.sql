-- What GitHub told, once for each delivery, and what it led to.
CREATE TABLE deliveries (
	guid     TEXT PRIMARY KEY,
	event    TEXT NOT NULL,
	action   TEXT NOT NULL,
	subject  TEXT NOT NULL, -- of wanted; '' when nothing is wanted
	why      TEXT NOT NULL, -- why nothing is
	received BIGINT NOT NULL
);
CREATE INDEX deliveries_by_time ON deliveries (received);

-- What is wanted of a server: a look at a pull request, or at a comment on it. It counts how often it was asked for, how far
-- that was put into the queue, and how far it was seen to.
CREATE TABLE wanted (
	subject  TEXT PRIMARY KEY,
	repo     TEXT NOT NULL, -- host/owner/name
	pr       BIGINT NOT NULL,
	comment  BIGINT NOT NULL, -- 0 for the pull request itself
	priority BIGINT NOT NULL, -- the lowest comes first
	anew     BIGINT NOT NULL CHECK (anew IN (0, 1)), -- a commit that was reviewed is looked at again
	asked    BIGINT NOT NULL,
	queued   BIGINT NOT NULL,
	handled  BIGINT NOT NULL,
	since    BIGINT NOT NULL, -- when it was asked for first, after it was seen to
	due      BIGINT NOT NULL, -- not before
	tries    BIGINT NOT NULL, -- that failed
	outcome  TEXT NOT NULL, -- what became of it last, and why
	why      TEXT NOT NULL,
	run      TEXT NOT NULL,
	seen     TEXT NOT NULL, -- how the pull request was then
	updated  BIGINT NOT NULL
);
CREATE INDEX wanted_by_due ON wanted (due);
CREATE INDEX wanted_by_pull ON wanted (repo, pr);
