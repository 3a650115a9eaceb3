-- What was said of a commit is read at each look at a pull request with that head.
CREATE INDEX effects_by_head ON effects (head, kind, created);
