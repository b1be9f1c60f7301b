-- Older nodes: go on.
-- Where other nodes reach the node that has a session, and its MAC by a key of the service: requests with people's cookies are
-- sent there, so that no address counts that somebody with the database alone has written.
ALTER TABLE live_sessions
  ADD COLUMN node_url text CHECK (char_length(node_url) <= 300),
  ADD COLUMN node_url_mac bytea CHECK (length(node_url_mac) = 32);
