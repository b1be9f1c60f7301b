-- Older nodes: go on.
-- Null where the rules of the state name no number of years: such a recording is kept for good.
ALTER TABLE recordings ALTER COLUMN keep_until DROP NOT NULL;
-- Each range of a player asks for the viewer's last opening.
CREATE INDEX audit_log_recordings ON audit_log ((detail ->> 'recording'), actor, occurred_at) WHERE action = 'recording.opened';
