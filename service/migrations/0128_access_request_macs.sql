-- Older nodes: stop.
-- A MAC over a request for access as it was sent: otherwise the database alone has a firm's first key mailed to somebody else. Mails whose
-- words are in their jobs have a MAC in the payload.
ALTER TABLE access_requests ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
