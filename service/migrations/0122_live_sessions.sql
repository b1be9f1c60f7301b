-- Older nodes: stop.
-- Sessions in which a notary and the signers meet by audio and video. Older nodes would take the signing of a document in such a session
-- for one at the notary's device.
CREATE TABLE live_sessions (
  -- The name of the session in the engine of audio and video, and of its recording.
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  task_id bigint NOT NULL REFERENCES tasks (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  sheet_id uuid NOT NULL REFERENCES notary_sheets (id),
  -- open: the waiting room; live: people are recorded; held: the same, and nothing is marked or signed; signed: the
  -- notary has signed, and the recording has ended.
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'live', 'held', 'signed', 'ended')),
  outcome text CHECK (outcome IN ('done', 'refused', 'no_show', 'technical', 'identity', 'abandoned')),
  -- Whether the notary holds the session, even while everybody is there.
  is_paused boolean NOT NULL DEFAULT false,
  opened_at timestamptz NOT NULL,
  live_at timestamptz,
  ended_at timestamptz,
  -- The service that has the session in its engine, and until when without a renewal.
  node text,
  lease_until timestamptz,
  head_position int NOT NULL DEFAULT 0 CHECK (head_position BETWEEN 0 AND 20000),
  head_sha256 text CHECK (head_sha256 ~ '^[0-9a-f]{64}$'),
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((head_position = 0) = (head_sha256 IS NULL))
);
CREATE UNIQUE INDEX live_sessions_open ON live_sessions (task_id) WHERE state <> 'ended';
CREATE INDEX live_sessions_of_order ON live_sessions (order_id, opened_at);

-- A signer of a session. The link's token is a credential: only its hash is stored.
CREATE TABLE live_people (
  id uuid PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES live_sessions (id),
  -- The place among those who are to appear, from 1.
  n int NOT NULL CHECK (n BETWEEN 1 AND 10),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  -- Of the last code that was mailed; the code itself is computed from it.
  code_id uuid,
  code_sent_at timestamptz,
  codes_sent int NOT NULL DEFAULT 0 CHECK (codes_sent BETWEEN 0 AND 1000),
  failures int NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND 1000),
  -- The one browser that passed the code.
  browser_sha256 bytea CHECK (length(browser_sha256) = 32),
  -- State and country where the person says to be.
  place text CHECK (char_length(place) BETWEEN 1 AND 200),
  -- Whether the person agreed to the recording: the text's version, language and hash, and when.
  consent jsonb,
  waiting_at timestamptz,
  admitted_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (session_id, n)
);

-- Canonical JSON records, each with the hash of the one before.
CREATE TABLE live_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  session_id uuid NOT NULL REFERENCES live_sessions (id),
  position int NOT NULL CHECK (position > 0),
  record text NOT NULL CHECK (octet_length(record) <= 16384),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (session_id, position)
);
CREATE TRIGGER live_events_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF session_id, position, record, sha256
  ON live_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
