-- Older nodes: go on.
-- Notaries who are on duty, and orders whose people ask to meet one now.
CREATE TABLE notary_duty (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  notary_id uuid NOT NULL REFERENCES notaries (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  since timestamptz NOT NULL,
  -- Duty ends by itself: a notary who left the desk must not keep people waiting.
  until timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (notary_id, environment)
);

CREATE TABLE notary_requests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  -- The place in the queue: it stays when a notary who took the request did not come.
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'taken', 'ended')),
  outcome text CHECK (outcome IN ('met', 'left', 'booked', 'expired', 'elsewhere')),
  notary_id uuid REFERENCES notaries (id),
  taken_at timestamptz,
  ended_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((notary_id IS NULL) = (taken_at IS NULL)),
  CHECK (state <> 'taken' OR notary_id IS NOT NULL),
  CHECK (state <> 'waiting' OR notary_id IS NULL)
);
CREATE UNIQUE INDEX notary_requests_of_order ON notary_requests (order_id) WHERE state <> 'ended';
CREATE UNIQUE INDEX notary_requests_of_notary ON notary_requests (notary_id) WHERE state = 'taken';
CREATE INDEX notary_requests_waiting ON notary_requests (asked_at, id) WHERE state <> 'ended';
CREATE INDEX notary_requests_history ON notary_requests (order_id, asked_at);
