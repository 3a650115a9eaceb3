-- What is decided about the reviews of a repository, by host and GitHub's numeric id. A column that is NULL says nothing. Lists are
-- JSON. Columns that this prloop does not act on yet stand here already, so that later ones need no new table. Rows are never
-- deleted: version only ever rises.
CREATE TABLE repo_policy (
	host    TEXT NOT NULL,
	repo_id BIGINT NOT NULL CHECK (repo_id > 0),
	repo    TEXT NOT NULL,
	version BIGINT NOT NULL CHECK (version > 0),
	updated BIGINT NOT NULL,

	gating_policy             TEXT,
	allowed_labels            TEXT,
	tier                      TEXT,
	auto_full_on_complex      BIGINT CHECK (auto_full_on_complex IN (0, 1)),
	auto_full_on_flag         BIGINT CHECK (auto_full_on_flag IN (0, 1)),
	auto_full_paths           TEXT,
	auto_full_over_lines      BIGINT,
	auto_full_untrusted       BIGINT CHECK (auto_full_untrusted IN (0, 1)),
	context_for_quick         BIGINT CHECK (context_for_quick IN (0, 1)),
	context_path_excludes     TEXT,
	hide_withheld_names       BIGINT CHECK (hide_withheld_names IN (0, 1)),
	prompt_quick_override     TEXT,
	prompt_full_override      TEXT,
	max_tokens_quick_override BIGINT,
	max_tokens_full_override  BIGINT,

	max_fragments_per_request   BIGINT,
	max_excerpt_chars           BIGINT,
	max_listing_dirs            BIGINT,
	max_listing_entries_per_dir BIGINT,
	discovery_max_tokens        BIGINT,
	extract_max_tokens          BIGINT,
	discovery_prompt_override   TEXT,
	extract_prompt_override     TEXT,
	guidance_files              TEXT,
	always_listed_folders       TEXT,

	crew                   TEXT,
	fixing                 BIGINT CHECK (fixing IN (0, 1)),
	max_cost_per_run_usd   DOUBLE PRECISION,
	max_cost_per_agent_usd DOUBLE PRECISION,

	PRIMARY KEY (host, repo_id)
);

-- Every change of a row: who, when, from, to. from_value and to_value are JSON, NULL where the column was, or is, not set.
CREATE TABLE repo_policy_changes (
	host        TEXT NOT NULL,
	repo_id     BIGINT NOT NULL,
	version     BIGINT NOT NULL,
	column_name TEXT NOT NULL,
	repo        TEXT NOT NULL,
	from_value  TEXT,
	to_value    TEXT,
	changed_by  TEXT NOT NULL,
	changed     BIGINT NOT NULL,
	PRIMARY KEY (host, repo_id, version, column_name)
);
CREATE INDEX repo_policy_changes_by_time ON repo_policy_changes (changed);
