-- A document's way through its signers' hands. An order that is issued anew after a refusal or an expiry has a further envelope.
CREATE TABLE envelopes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt >= 1),
  verify_code text NOT NULL UNIQUE CHECK (verify_code ~ '^[a-z2-7]{26}$'),
  -- The fields as they were prepared, in the order of the signers' pages.
  fields jsonb NOT NULL,
  pages int NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When those whose turn it is are next reminded.
  remind_at timestamptz,
  outcome text CHECK (outcome IN ('Completed', 'Declined', 'Expired', 'Voided')),
  ended_at timestamptz CHECK ((ended_at IS NULL) = (outcome IS NULL)),
  UNIQUE (order_id, attempt)
);
CREATE UNIQUE INDEX envelopes_open ON envelopes (order_id) WHERE ended_at IS NULL;
CREATE INDEX envelopes_due ON envelopes (least(expires_at, remind_at)) WHERE ended_at IS NULL;

-- Who signs. Links and sessions are credentials: only their hashes are kept; `link_id` makes the token of a link anew for its mail.
CREATE TABLE envelope_signers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  n int NOT NULL CHECK (n BETWEEN 1 AND 10),
  name text NOT NULL,
  email text NOT NULL,
  language text NOT NULL CHECK (language IN ('en', 'es')),
  -- Those of the lowest number sign first, in any order.
  routing int NOT NULL,
  auth text NOT NULL CHECK (auth IN ('link', 'mail_code', 'access_code')),
  access_code_hash text,
  link_id uuid,
  token_sha256 bytea UNIQUE CHECK (length(token_sha256) = 32),
  issued_at timestamptz,
  opened_at timestamptz,
  code_id uuid,
  code_sent_at timestamptz,
  failures int NOT NULL DEFAULT 0,
  locked_at timestamptz,
  session_sha256 bytea CHECK (length(session_sha256) = 32),
  session_expires_at timestamptz,
  -- What consent was given to: `{version, language, textSha256, at}`.
  consent jsonb,
  signed_at timestamptz,
  -- Whom the signer says should sign instead: `{name, email, at}`.
  proposal jsonb,
  UNIQUE (envelope_id, n)
);

-- The revisions that were appended to the original, from 1. Each tail is a document of its own; the file is the original with all
-- tails behind it, so every state of it is a prefix of the next.
CREATE TABLE envelope_revisions (
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  number int NOT NULL CHECK (number >= 1),
  document_id bigint NOT NULL UNIQUE REFERENCES documents (id),
  -- Whose act it is; null for the preparation.
  signer int,
  -- Of the whole file up to and with this revision.
  bytes int NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (envelope_id, number),
  CHECK ((number = 1) = (signer IS NULL))
);
CREATE UNIQUE INDEX envelope_revisions_one_act ON envelope_revisions (envelope_id, signer);

-- What happened, each record (canonical JSON) with the hash of the one before.
CREATE TABLE envelope_events (
  id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  position int NOT NULL CHECK (position >= 1),
  record text NOT NULL,
  sha256 text NOT NULL CHECK (sha256 = encode(sha256(convert_to(record, 'UTF8')), 'hex')),
  previous int GENERATED ALWAYS AS (NULLIF(position, 1) - 1) STORED,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  PRIMARY KEY (envelope_id, position),
  FOREIGN KEY (envelope_id, previous) REFERENCES envelope_events (envelope_id, position)
);

CREATE TRIGGER envelope_revisions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON envelope_revisions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER envelope_events_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF envelope_id, position, record, sha256
  ON envelope_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

ALTER TABLE documents DROP CONSTRAINT documents_kind_check;
ALTER TABLE documents ADD CONSTRAINT documents_kind_check
  CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate'));
