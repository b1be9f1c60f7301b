-- Older nodes: go on.
-- The last number that a document of the session was given, also of one that left it.
ALTER TABLE signing_sessions ADD COLUMN last_n int NOT NULL DEFAULT 0;
UPDATE signing_sessions g
SET last_n = coalesce((SELECT max(m.n) FROM session_signers m WHERE m.session_id = g.id), 0);
CREATE INDEX session_signers_by_mail ON session_signers (asked_by);
