-- Older nodes: go on.
-- The address of the node that has a session, with a MAC by a key of the service. Requests with people's cookies are sent
-- there, so database access alone must not be enough to set it.
ALTER TABLE live_sessions
  ADD COLUMN node_url text CHECK (char_length(node_url) <= 300),
  ADD COLUMN node_url_mac bytea CHECK (length(node_url_mac) = 32);
