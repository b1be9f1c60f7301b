-- Older nodes: stop.
-- A notary asks that a person of an order prove their identity: once by a credential, once by questions, as the state wants.
ALTER TABLE provider_events DROP CONSTRAINT provider_events_provider_check,
  ADD CONSTRAINT provider_events_provider_check CHECK (provider IN ('easypost', 'lob', 'telnyx', 'stripe_identity'));

CREATE TABLE identity_checks (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  -- Which of those who are to appear, from 1.
  person int NOT NULL CHECK (person BETWEEN 1 AND 10),
  -- The types of proof, all of which are to be passed; and how the state wants questions asked.
  needs text[] NOT NULL CHECK (cardinality(needs) BETWEEN 1 AND 5),
  quiz jsonb,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'asked' CHECK (state IN ('asked', 'passed', 'failed', 'expired')),
  ended_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((state = 'asked') = (ended_at IS NULL)),
  CHECK (('kba' = ANY (needs)) = (quiz IS NOT NULL))
);
CREATE UNIQUE INDEX identity_checks_open ON identity_checks (order_id, person) WHERE state = 'asked';
CREATE INDEX identity_checks_of_order ON identity_checks (order_id, person, asked_at);

CREATE TABLE identity_proofs (
  id uuid PRIMARY KEY,
  check_id uuid NOT NULL REFERENCES identity_checks (id),
  kind text NOT NULL CHECK (kind IN ('credential', 'questions')),
  attempt int NOT NULL CHECK (attempt BETWEEN 1 AND 20),
  provider text NOT NULL,
  -- The provider's id; null until it has answered.
  reference text CHECK (char_length(reference) BETWEEN 1 AND 255),
  begun_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'begun' CHECK (state IN ('begun', 'answering', 'passed', 'failed', 'inconclusive')),
  ended_at timestamptz,
  -- Of questions: how many were right, and in how many seconds. Questions and answers are not stored.
  correct int,
  asked int,
  seconds int,
  -- Of a credential: what the provider found, encrypted, until it is forgotten.
  content bytea,
  forgotten_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  UNIQUE (check_id, kind, attempt),
  CHECK ((state IN ('begun', 'answering')) = (ended_at IS NULL))
);
CREATE INDEX identity_proofs_reference ON identity_proofs (provider, reference);
CREATE INDEX identity_proofs_kept ON identity_proofs (ended_at) WHERE forgotten_at IS NULL AND reference IS NOT NULL;
