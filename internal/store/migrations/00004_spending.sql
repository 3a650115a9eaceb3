-- +goose Up
-- What the calls of a run to models came to, over all of its processes, for the bounds of the run.
CREATE TABLE spending (
    run        TEXT PRIMARY KEY,
    llm_calls  INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    cost_usd   REAL NOT NULL
);

-- +goose Down
DROP TABLE spending;
