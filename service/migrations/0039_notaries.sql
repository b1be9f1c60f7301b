-- Operators who are commissioned notaries. What blocks one is found from the dates at the time of asking.
CREATE TABLE notaries (
  id uuid PRIMARY KEY,
  operator_id uuid NOT NULL UNIQUE REFERENCES operators (user_id),
  commission_name text NOT NULL,
  state text NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
  county text NOT NULL,
  commission_number text NOT NULL,
  -- The last day on which it counts; so is every date here.
  commission_expires date NOT NULL,
  ron_registration text,
  ron_expires date CHECK ((ron_expires IS NULL) = (ron_registration IS NULL)),
  tool text,
  -- PEM of the certificate that the notary signs with, and of those that issued it.
  certificate text,
  certificate_chain text CHECK (certificate_chain IS NULL OR certificate IS NOT NULL),
  status text NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- What a notary proved a commission with.
CREATE TABLE notary_proofs (
  id uuid PRIMARY KEY,
  notary_id uuid NOT NULL REFERENCES notaries (id),
  label text NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes int NOT NULL,
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX notary_proofs_blob ON notary_proofs (blob_key);

-- That an expiry was mailed about: each of its two mails once.
CREATE TABLE notary_expiry_mails (
  notary_id uuid NOT NULL REFERENCES notaries (id),
  what text NOT NULL CHECK (what IN ('commission', 'registration', 'certificate')),
  expires_on date NOT NULL,
  stage text NOT NULL CHECK (stage IN ('soon', 'expired')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (notary_id, what, expires_on, stage)
);

-- What a notary has noted so far of an order that is claimed by its task.
CREATE TABLE notary_drafts (
  task_id bigint NOT NULL REFERENCES tasks (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  act jsonb,
  appointment_url text,
  appointment_at timestamptz,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (task_id, notary_id)
);

-- Journals: each record (canonical JSON) with the hash of the one before in the same notary's.
CREATE TABLE notary_journal (
  id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  notary_id uuid NOT NULL REFERENCES notaries (id),
  position int NOT NULL CHECK (position >= 1),
  order_id bigint NOT NULL REFERENCES orders (id),
  record text NOT NULL,
  sha256 text NOT NULL CHECK (sha256 = encode(sha256(convert_to(record, 'UTF8')), 'hex')),
  -- The entry that this one corrects.
  corrects int CHECK (corrects < position),
  previous int GENERATED ALWAYS AS (NULLIF(position, 1) - 1) STORED,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  PRIMARY KEY (notary_id, position),
  FOREIGN KEY (notary_id, previous) REFERENCES notary_journal (notary_id, position),
  FOREIGN KEY (notary_id, corrects) REFERENCES notary_journal (notary_id, position)
);
CREATE TRIGGER notary_journal_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF notary_id, position, order_id, record, sha256, corrects
  ON notary_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
