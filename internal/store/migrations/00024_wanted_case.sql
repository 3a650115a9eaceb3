-- GitHub's names know no case: what is wanted has one subject, however its repository is spelled. Of what had several the newest stays; who serves
-- finds again what is open.
CREATE INDEX wanted_folded ON wanted (lower(subject));
CREATE INDEX asked_folded ON asked (lower(ask));
DELETE FROM wanted WHERE EXISTS (SELECT 1 FROM wanted o WHERE lower(o.subject) = lower(wanted.subject) AND o.subject <> wanted.subject
	AND (o.updated > wanted.updated OR o.updated = wanted.updated AND o.subject > wanted.subject));
UPDATE wanted SET subject = lower(subject) WHERE subject <> lower(subject);
DROP INDEX wanted_folded;
DROP INDEX wanted_by_pull;
CREATE INDEX wanted_by_pull ON wanted (lower(repo), pr);

-- So is what a comment asks for, which is answered by the run that was begun for it first.
DELETE FROM asked WHERE EXISTS (SELECT 1 FROM asked o WHERE lower(o.ask) = lower(asked.ask) AND o.ask <> asked.ask
	AND (o.created < asked.created OR o.created = asked.created AND o.ask < asked.ask));
UPDATE asked SET ask = lower(ask) WHERE ask <> lower(ask);
DROP INDEX asked_folded;
