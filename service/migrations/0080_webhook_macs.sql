-- Older nodes: stop.
-- Where a firm's events are sent has a MAC: who changes it in the database is sent nothing.
ALTER TABLE webhooks ADD COLUMN row_mac bytea;
