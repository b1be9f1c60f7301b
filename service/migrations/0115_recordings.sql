-- Older nodes: stop.
-- They would sweep the blobs of a table that they do not know.
-- Recordings of sessions with a notary: each is one chain of chunks over all people's takes.
CREATE TABLE recordings (
  id uuid PRIMARY KEY,
  -- The session's name, as the engine of audio and video knows it.
  session text NOT NULL UNIQUE CHECK (session ~ '^[A-Za-z0-9-]{1,64}$'),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  order_id bigint REFERENCES orders (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  people jsonb NOT NULL,
  -- By take: when it ended and why.
  take_ends jsonb NOT NULL DEFAULT '{}',
  -- Encrypted; null once the recording is deleted.
  record_key bytea,
  -- How often the engine opened it: numbers of takes, and with them nonces, depend on it.
  runs int NOT NULL DEFAULT 0,
  head_seq bigint NOT NULL DEFAULT 0,
  head_sha256 text NOT NULL CHECK (head_sha256 ~ '^[0-9a-f]{64}$'),
  started_at timestamptz NOT NULL,
  ended_at timestamptz,
  manifest text,
  manifest_sha256 text CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  keep_until date NOT NULL,
  is_held boolean NOT NULL DEFAULT false,
  deleted_at timestamptz,
  row_mac bytea,
  CHECK ((manifest IS NULL) = (ended_at IS NULL)),
  CHECK ((manifest IS NULL) = (manifest_sha256 IS NULL)),
  CHECK ((record_key IS NULL) = (deleted_at IS NOT NULL))
);
CREATE INDEX recordings_of_notary ON recordings (notary_id, keep_until);
CREATE INDEX recordings_of_order ON recordings (order_id) WHERE order_id IS NOT NULL;

-- A stretch of the chain, and the encrypted chunks that its lines name, one behind the other in one blob.
CREATE TABLE recording_parts (
  id uuid PRIMARY KEY,
  recording_id uuid NOT NULL REFERENCES recordings (id),
  first_seq bigint NOT NULL CHECK (first_seq > 0),
  last_seq bigint NOT NULL,
  head_sha256 text NOT NULL CHECK (head_sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes > 0),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  lines text NOT NULL,
  -- Null once the recording is deleted.
  blob_key text,
  created_at timestamptz NOT NULL,
  row_mac bytea,
  UNIQUE (recording_id, first_seq),
  CHECK (last_seq >= first_seq)
);
CREATE INDEX recording_parts_with_blobs ON recording_parts (blob_key) WHERE blob_key IS NOT NULL;
