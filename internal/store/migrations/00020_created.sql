-- When each account creates content on GitHub: the last hour, and what has its place in time. One row, so that whoever chooses a place holds it.
CREATE TABLE created (
	account TEXT NOT NULL PRIMARY KEY, -- host/login
	places  TEXT NOT NULL -- microseconds since 1970, a JSON array in order
);
