-- What is open is read many times a second, beside all that was ever seen to.
CREATE INDEX wanted_to_queue ON wanted (priority, since) WHERE asked > queued;
CREATE INDEX wanted_open ON wanted (priority, since) WHERE asked > handled;
