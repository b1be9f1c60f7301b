CREATE TABLE price_books (
  version int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sha256 text NOT NULL UNIQUE,
  content jsonb NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code text NOT NULL UNIQUE CHECK (code ~ '^[0-9a-f]{40}$'),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  status text NOT NULL,
  status_before_hold text,
  sign boolean NOT NULL,
  notarize boolean NOT NULL,
  ship boolean NOT NULL,
  fax boolean NOT NULL,
  envelope_status text,
  external_reference text,
  customer_email text NOT NULL,
  customer_name text,
  doc_slug text,
  signer_state text,
  dest_state text,
  ship_method text CHECK (ship_method IN ('label', 'print_mail')),
  ship_to jsonb,
  ship_from jsonb,
  fax_to text,
  lines jsonb NOT NULL,
  subtotal_cents int NOT NULL,
  discount_cents int NOT NULL,
  total_cents int NOT NULL CHECK (total_cents >= 0 AND total_cents = subtotal_cents - discount_cents),
  price_book_version int NOT NULL REFERENCES price_books (version),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX orders_newest ON orders (partner_id, environment, created_at DESC, id DESC);
CREATE INDEX orders_by_status ON orders (partner_id, environment, status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (partner_id, environment, external_reference, created_at DESC, id DESC)
  WHERE external_reference IS NOT NULL;

CREATE TABLE documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('original', 'sealed', 'notarized', 'custody_certificate')),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes int NOT NULL,
  pages int,
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX documents_of_order ON documents (order_id, kind);
CREATE INDEX documents_by_blob ON documents (blob_key);

-- Completed documents waiting for the order that takes them. The token is a credential: only its hash is kept.
CREATE TABLE fill_documents (
  token_sha256 bytea PRIMARY KEY CHECK (length(token_sha256) = 32),
  slug text,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes int NOT NULL,
  pages int NOT NULL,
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX fill_documents_by_blob ON fill_documents (blob_key);
CREATE INDEX fill_documents_expiring ON fill_documents (expires_at) WHERE used_at IS NULL;

CREATE TABLE idempotency_keys (
  partner_key_id uuid NOT NULL REFERENCES partner_keys (id),
  route text NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint bytea NOT NULL,
  status int NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (partner_key_id, route, idempotency_key)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at);

-- What happened, for people; append-only.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  action text NOT NULL,
  actor text NOT NULL,
  partner_id uuid REFERENCES partners (id),
  order_id bigint REFERENCES orders (id),
  from_status text,
  to_status text,
  detail jsonb
);
CREATE INDEX audit_log_of_order ON audit_log (order_id, id) WHERE order_id IS NOT NULL;

-- What partners may be told; append-only. `event_id` is what a receiver de-duplicates by.
CREATE TABLE events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  topic text NOT NULL,
  event_id text NOT NULL,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  subject text NOT NULL
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
