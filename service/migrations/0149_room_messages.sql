-- Older nodes: stop.
-- They would delete a recording whose time is over, and leave what was written in its session.
-- Messages that people wrote in a live session. Each line's hash is in the session's events and in the manifest.
CREATE TABLE recording_messages (
  id uuid PRIMARY KEY,
  recording_id uuid NOT NULL REFERENCES recordings (id),
  n int NOT NULL CHECK (n BETWEEN 1 AND 1000),
  -- The session's name of the writer.
  person text NOT NULL CHECK (char_length(person) BETWEEN 1 AND 40),
  written_at timestamptz NOT NULL,
  -- The line, encrypted under the recording's key.
  line bytea NOT NULL CHECK (octet_length(line) <= 8192),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (recording_id, n)
);
