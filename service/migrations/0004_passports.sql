-- Chains of seal certificates, as PEM with the seal's own first: evidence stays whole when the key changes.
CREATE TABLE seal_chains (
  sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  pem text NOT NULL,
  first_used_at timestamptz NOT NULL
);

-- One proof passport per sealed document. Written once. `row_mac` is over what the public verification says.
CREATE TABLE passports (
  id uuid PRIMARY KEY,
  verify_code text NOT NULL UNIQUE CHECK (verify_code ~ '^[a-z2-7]{26}$'),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  doc_sha256 text NOT NULL CHECK (doc_sha256 ~ '^[0-9a-f]{64}$'),
  sealed_sha256 text NOT NULL CHECK (sealed_sha256 ~ '^[0-9a-f]{64}$'),
  seal_chain text NOT NULL REFERENCES seal_chains (sha256),
  row_mac bytea NOT NULL CHECK (length(row_mac) = 32),
  blob_key text,
  rfc3161_token bytea,
  rfc3161_authority text,
  rfc3161_at timestamptz,
  created_at timestamptz NOT NULL,
  CHECK (num_nulls(rfc3161_token, rfc3161_authority, rfc3161_at) IN (0, 3))
);
CREATE INDEX passports_by_blob ON passports (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX passports_of_partner ON passports (partner_id, environment, created_at DESC);

-- The OpenTimestamps proof of a passport's `sealed_sha256`, which grows until a block confirms it.
CREATE TABLE passport_anchors (
  passport_id uuid PRIMARY KEY REFERENCES passports (id),
  proof bytea NOT NULL,
  calendar text NOT NULL,
  submitted_at timestamptz NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'confirmed')),
  block_height int,
  next_look_at timestamptz,
  looks int NOT NULL DEFAULT 0,
  CHECK ((status = 'confirmed') = (block_height IS NOT NULL)),
  CHECK ((status = 'pending') = (next_look_at IS NOT NULL))
);
CREATE INDEX passport_anchors_due ON passport_anchors (next_look_at) WHERE status = 'pending';
