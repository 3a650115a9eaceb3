-- The root of the working tree of a local change, which a list of runs tells apart.
ALTER TABLE runs ADD COLUMN folder TEXT NOT NULL DEFAULT '';
