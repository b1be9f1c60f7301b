-- What is asked of a provider once only: the row is written before, and ends when the answer is known. `unknown`: a person has to say.
-- Payload and result are encrypted, and deleted by the retention plan; what they hash to stays.
CREATE TABLE provider_calls (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  act text NOT NULL,
  provider text NOT NULL CHECK (provider IN ('easypost', 'lob', 'telnyx')),
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  state text NOT NULL DEFAULT 'intended'
    CHECK (state IN ('intended', 'begun', 'unknown', 'done', 'failed', 'withdrawn')),
  -- Beside the order's way: people's moves do not wait for it.
  is_beside boolean NOT NULL,
  payload bytea,
  result bytea,
  -- How often it began, and how often it was looked up since.
  tries int NOT NULL DEFAULT 0,
  looks int NOT NULL DEFAULT 0,
  intended_at timestamptz NOT NULL,
  begun_at timestamptz,
  look_at timestamptz,
  -- Since when the provider does not take it; null once it did.
  away_since timestamptz,
  ended_at timestamptz,
  ended_by text,
  code text,
  why text,
  request_sha256 text,
  answer_sha256 text,
  UNIQUE (act, order_id, attempt),
  CHECK ((state IN ('begun', 'unknown')) <= (begun_at IS NOT NULL)),
  CHECK ((state IN ('done', 'failed', 'withdrawn')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX provider_calls_of_order ON provider_calls (order_id, id);
CREATE INDEX provider_calls_open ON provider_calls (id) WHERE ended_at IS NULL;
CREATE INDEX provider_calls_ended ON provider_calls (ended_at) WHERE payload IS NOT NULL;

-- Signed events as they came: `content` (bytes and headers) is encrypted, and deleted by the retention plan.
CREATE TABLE provider_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider text NOT NULL CHECK (provider IN ('easypost', 'lob', 'telnyx')),
  event_id text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  occurred_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  content bytea,
  body_sha256 text NOT NULL,
  outcome text CHECK (outcome IN ('applied', 'known', 'unknown', 'irrelevant')),
  worked_at timestamptz,
  UNIQUE (provider, event_id),
  CHECK (num_nulls(outcome, worked_at) IN (0, 2))
);
CREATE INDEX provider_events_of_object ON provider_events (provider, object_id, id);
CREATE INDEX provider_events_unworked ON provider_events (id) WHERE worked_at IS NULL;
CREATE INDEX provider_events_received ON provider_events (received_at) WHERE content IS NOT NULL;
