-- The reviews that each author had in a day, in UTC, that nobody asked for.
CREATE TABLE turns (
	author TEXT NOT NULL, -- host/login
	day    BIGINT NOT NULL, -- since 1970
	slot   BIGINT NOT NULL, -- 1 is the first of the day
	turn   TEXT NOT NULL UNIQUE, -- what it was for: one that is tried again is the same
	PRIMARY KEY (author, day, slot)
);
CREATE INDEX turns_by_day ON turns (day);
