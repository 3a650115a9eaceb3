-- What scouts noticed, made of the results of runs to be searched: by time, repository, tag and word. The JSON of the result stays the record.
CREATE TABLE observations (
	run     TEXT NOT NULL REFERENCES runs (id),
	ord     BIGINT NOT NULL,
	repo_key TEXT NOT NULL,
	repo    TEXT NOT NULL,
	pr      BIGINT NOT NULL,
	created BIGINT NOT NULL, -- when the run was
	tag     TEXT NOT NULL, -- as it is looked for
	label   TEXT NOT NULL, -- as it was given
	body    TEXT NOT NULL,
	file    TEXT NOT NULL,
	line    BIGINT,
	PRIMARY KEY (run, ord)
);
CREATE INDEX observations_by_time ON observations (created, run, ord);
CREATE INDEX observations_by_key ON observations (repo_key, created, run, ord);
CREATE INDEX observations_by_tag ON observations (tag, created, run, ord);
CREATE INDEX observations_by_key_and_tag ON observations (repo_key, tag, created, run, ord);

CREATE TABLE observation_words (
	run     TEXT NOT NULL,
	ord     BIGINT NOT NULL,
	word    TEXT NOT NULL,
	repo_key TEXT NOT NULL,
	created BIGINT NOT NULL,
	PRIMARY KEY (run, ord, word)
);
CREATE INDEX observation_words_by_word ON observation_words (word, created, run, ord);
CREATE INDEX observation_words_by_key ON observation_words (repo_key, word, created, run, ord);
