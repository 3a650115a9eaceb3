-- Who said something that no look has heard, each between blanks.
ALTER TABLE wanted ADD COLUMN said TEXT NOT NULL DEFAULT '';
