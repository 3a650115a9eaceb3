-- The files of runs that machines share through a blob store. What a file holds stands there under its sum.
CREATE TABLE files (
	run    TEXT NOT NULL,
	name   TEXT NOT NULL,
	sum    TEXT NOT NULL, -- SHA-256 in hexadecimal
	place  TEXT NOT NULL, -- whose folder it was saved in
	status TEXT NOT NULL, -- waiting: it is in that folder alone; kept: the blob store has it; over: it is to be removed
	saved  BIGINT NOT NULL,
	PRIMARY KEY (run, name)
);
CREATE INDEX files_open ON files (status, saved) WHERE status <> 'kept';
CREATE INDEX files_saved ON files (run, saved);
