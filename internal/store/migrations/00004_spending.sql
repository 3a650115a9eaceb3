-- What the calls of a run to models came to, over all of its processes, for the bounds of the run.
CREATE TABLE spending (
    run        TEXT PRIMARY KEY,
    llm_calls  BIGINT NOT NULL,
    tool_calls BIGINT NOT NULL,
    tokens     BIGINT NOT NULL,
    cost_usd   DOUBLE PRECISION NOT NULL
);
