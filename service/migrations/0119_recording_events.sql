-- Older nodes: stop.
-- They would send bodies of topics that they do not know.
-- What events tell of recordings: facts of that moment, and none about people.
CREATE TABLE recording_events (
  -- The event's row.
  event_row bigint PRIMARY KEY,
  recording_id uuid NOT NULL REFERENCES recordings (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  topic text NOT NULL CHECK (topic IN ('recording.started', 'recording.completed', 'recording.interrupted', 'recording.deleted')),
  -- Which event of the topic it is for the order.
  n int NOT NULL CHECK (n > 0),
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  manifest_sha256 text CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  -- Of an interruption, or of a deletion.
  cause text,
  row_mac bytea,
  UNIQUE (order_id, topic, n)
);
CREATE INDEX recording_events_of_recording ON recording_events (recording_id);
