-- Older nodes: stop.
-- An event has a MAC under a key that is not in the database. The service sends, lists and chains only events that it wrote.
ALTER TABLE events ADD COLUMN row_mac bytea CHECK (length(row_mac) = 36);
