-- Older nodes: go on.
-- Many orders from one template and one list of people. Rows hold people, so they are encrypted.
CREATE TABLE bulks (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  template_id uuid NOT NULL,
  version int NOT NULL,
  -- Of the file and of all that was sent with it: the same sent again is the same bulk.
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  created_by text NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL,
  UNIQUE (partner_id, environment, template_id, version, fingerprint),
  FOREIGN KEY (template_id, version) REFERENCES template_versions (template_id, version)
);
CREATE INDEX bulks_of_firm ON bulks (partner_id, environment, created_at DESC, id DESC);

CREATE TABLE bulk_rows (
  id uuid PRIMARY KEY,
  bulk_id uuid NOT NULL REFERENCES bulks (id),
  n int NOT NULL CHECK (n BETWEEN 1 AND 5000),
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'placed', 'failed', 'canceled')),
  -- Encrypted: the order form of a row, or the code of its order once it is placed. Null for a canceled row.
  content bytea,
  reason text CHECK (char_length(reason) BETWEEN 1 AND 1000),
  UNIQUE (bulk_id, n),
  CHECK ((content IS NULL) = (state = 'canceled')),
  CHECK ((reason IS NULL) = (state <> 'failed'))
);
CREATE INDEX bulk_rows_waiting ON bulk_rows (bulk_id, n) WHERE state = 'waiting';
