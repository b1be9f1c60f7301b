-- The schema of 0001 to 0069 in one file: new databases begin here (docs/decisions/upgrades.md).

-- The trigram index behind the console's search.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- The domain that the mail addresses of a firm share: `acme.com` of `dana@mail.acme.com`, `acme.co.uk` of `dana@acme.co.uk`.
CREATE FUNCTION mail_domain(email text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT substring(lower(email) FROM
    '([^@.]+[.](?:ac|co|com|edu|gov|law|ltd|me|ne|net|or|org|plc|web)[.][a-z]{2}|[^@.]+[.][^@.]+)$')
$$;

CREATE TABLE partners (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  tier text NOT NULL CHECK (tier IN ('trial', 'PartnerLink', 'ProOffice', 'ClosingDesk')),
  live_enabled boolean NOT NULL DEFAULT false,
  brand_name text,
  accent_color text CHECK (accent_color ~ '^#[0-9a-f]{6}$'),
  logo_url text CHECK (logo_url ~ '^https://' OR logo_url ~ '^http://(localhost|127\.0\.0\.1)(:[0-9]+)?/logos/'),
  demo boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- (rooms.view_version, partners.view_version) identifies a room's view: each change of what it shows raises one of them in the
  -- same transaction.
  view_version bigint NOT NULL DEFAULT 1,
  -- Whether a session must have shown a passkey just before it changes anything live.
  passkey_for_live boolean NOT NULL DEFAULT false,
  -- Where clients and signers reach the firm: Reply-To of mails, and shown on signing pages.
  contact_email text CHECK (contact_email ~ '^[^[:space:][:cntrl:]@]+@[^[:space:][:cntrl:]@]+$')
);
CREATE UNIQUE INDEX partners_one_demo ON partners (demo) WHERE demo;

-- People who sign in, identified by a mail address that they proved to be theirs. `email` is lowercase.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL UNIQUE CHECK (char_length(email) <= 254 AND email = lower(email)),
  created_at timestamptz NOT NULL
);

CREATE TABLE partner_keys (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  key_sha256 bytea NOT NULL UNIQUE CHECK (length(key_sha256) = 32),
  last4 text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  name text CHECK (char_length(name) BETWEEN 1 AND 100),
  scopes text[] CHECK (cardinality(scopes) > 0),
  expires_at timestamptz,
  -- The member who issued it; null for the operator.
  issued_by uuid REFERENCES users (id),
  replaces uuid UNIQUE REFERENCES partner_keys (id),
  -- The network of the last caller: 24 bits of an IPv4 address, 48 of an IPv6 one.
  last_used_from text,
  -- Covers what the key opens. Revoking removes it, so that a revocation that is undone in the database opens nothing.
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX partner_keys_of_partner ON partner_keys (partner_id, created_at);

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
  updated_at timestamptz NOT NULL,
  -- Who signs an order and where, as its form says; null where the form leaves it to the service. Access codes are salted hashes.
  signers jsonb,
  signature_fields jsonb,
  -- Binds `signers` and `signature_fields` to SECRETS_KEY. Null for orders without signing, and for old signed ones.
  row_mac bytea,
  -- The carrier's own rate behind the postage line of the quote: carrier, service, cents, and its verdict on the address.
  carrier_rate jsonb,
  -- The name of the document's file, encrypted.
  document_name bytea
);
CREATE INDEX orders_by_status ON orders (partner_id, environment, status, created_at DESC, id DESC);
CREATE INDEX orders_by_reference ON orders (partner_id, environment, external_reference, created_at DESC, id DESC)
  WHERE external_reference IS NOT NULL;
CREATE INDEX orders_newest ON orders (partner_id, environment, created_at DESC, id DESC)
  INCLUDE (status, updated_at, sign, notarize, ship, fax, total_cents);
-- Orders that wait for signatures: finds those whose envelope did not follow.
CREATE INDEX orders_to_sign ON orders (updated_at) WHERE status = 'EsignPending';
CREATE INDEX orders_by_words ON orders
  USING gin (lower(coalesce(customer_name, '') || ' ' || coalesce(external_reference, '')) gin_trgm_ops);
CREATE INDEX orders_by_email ON orders (lower(customer_email));
CREATE INDEX orders_of_all ON orders (environment, created_at DESC, id DESC);
CREATE INDEX orders_of_all_by_status ON orders (environment, status, created_at DESC, id DESC);
CREATE INDEX orders_by_change ON orders (partner_id, environment, updated_at DESC, id DESC);

CREATE TABLE documents (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('original', 'revision', 'sealed', 'notarized', 'custody_certificate', 'fax_report', 'shipping_label',
    'delivery_receipt', 'mail_receipt', 'fax_certificate')),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes int NOT NULL,
  pages int,
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36)
);
CREATE INDEX documents_of_order ON documents (order_id, kind);
CREATE INDEX documents_by_blob ON documents (blob_key);
CREATE INDEX documents_sealed ON documents (order_id) WHERE kind IN ('sealed', 'notarized');
CREATE INDEX documents_by_sha256 ON documents (sha256);

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
  used_at timestamptz,
  row_mac bytea CHECK (length(row_mac) = 36),
  -- The firm whose refused form the document came with; each firm may have a few. Null for one that was completed online.
  kept_for uuid REFERENCES partners (id)
);
CREATE INDEX fill_documents_by_blob ON fill_documents (blob_key);
CREATE INDEX fill_documents_expiring ON fill_documents (expires_at) WHERE used_at IS NULL;
CREATE INDEX fill_documents_kept ON fill_documents (kept_for, expires_at) WHERE kept_for IS NOT NULL AND used_at IS NULL;

CREATE TABLE idempotency_keys (
  caller_id uuid NOT NULL,
  route text NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint bytea NOT NULL,
  status int NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Set while the answer is being made: a duplicate request waits, and takes over after this instant.
  pending_until timestamptz,
  PRIMARY KEY (caller_id, route, idempotency_key)
);
CREATE INDEX idempotency_keys_oldest ON idempotency_keys (created_at);

-- One page per transaction. `code` is the credential of its readers, and rotation changes it; `id` leaves the service only as a list
-- cursor.
CREATE TABLE rooms (
  id uuid PRIMARY KEY,
  code text NOT NULL UNIQUE CHECK (code ~ '^[0-9a-f]{40}$'),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  reference text CHECK (char_length(reference) <= 200),
  status text NOT NULL CHECK (status IN ('open', 'closed')),
  order_count int NOT NULL DEFAULT 0 CHECK (order_count BETWEEN 0 AND 50),
  view_version bigint NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX rooms_newest ON rooms (partner_id, environment, created_at DESC, id DESC);
CREATE INDEX rooms_open ON rooms (partner_id, environment) WHERE status = 'open';

-- What happened, for people to read; append-only.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  action text NOT NULL,
  actor text NOT NULL,
  partner_id uuid REFERENCES partners (id),
  order_id bigint REFERENCES orders (id),
  from_status text,
  to_status text,
  detail jsonb,
  room_id uuid REFERENCES rooms (id),
  -- The audit log is a chain: each line has a hash over itself and the line before it, under a MAC whose key is not in the database.
  -- One node at a time gives lines their place, soon after they were committed, so that no writer waits for another.
  chain_position bigint,
  chain_sha256 bytea CHECK (length(chain_sha256) = 32),
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK (num_nulls(chain_position, chain_sha256, row_mac) IN (0, 3))
);
CREATE INDEX audit_log_of_order ON audit_log (order_id, id) WHERE order_id IS NOT NULL;
-- Finds the newest activity of one order, in general (room_id null) or in one room.
CREATE INDEX audit_log_activity ON audit_log (order_id, room_id, occurred_at DESC, id DESC)
  WHERE action IN ('order.created', 'order.transition', 'order.claimed', 'order.cancelled', 'signing_link.issued',
    'room.order_attached');
-- For `key revoke`: the members whom a key linked, and the webhooks that a caller created.
CREATE INDEX audit_log_of_access ON audit_log (partner_id, action)
  WHERE action IN ('member.linked', 'member.live_access_changed', 'webhook.created');
CREATE UNIQUE INDEX audit_log_chain ON audit_log (chain_position) WHERE chain_position IS NOT NULL;
CREATE INDEX audit_log_unchained ON audit_log (id) WHERE chain_position IS NULL;
-- Finds each notary's last line, which says where the journal ends.
CREATE INDEX audit_log_journal ON audit_log ((detail ->> 'notary'), id) WHERE action = 'notary_journal.entry';
-- What a key created, for its page.
CREATE INDEX audit_log_made_by_key ON audit_log (actor, action)
  WHERE actor LIKE 'key:%'
  AND action IN ('order.created', 'room.created', 'passport.sealed', 'room.passport_sealed', 'webhook.created');

-- Events for partners; append-only. Receivers deduplicate by `event_id`.
CREATE TABLE events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  topic text NOT NULL,
  event_id text NOT NULL,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  subject text NOT NULL,
  room_id uuid REFERENCES rooms (id)
);

CREATE TABLE room_orders (
  room_id uuid NOT NULL REFERENCES rooms (id),
  order_id bigint NOT NULL REFERENCES orders (id),
  position bigint GENERATED ALWAYS AS IDENTITY,
  label text CHECK (char_length(label) BETWEEN 1 AND 200),
  attached_at timestamptz NOT NULL,
  PRIMARY KEY (room_id, order_id)
);
CREATE INDEX room_orders_of_order ON room_orders (order_id);

-- A removed participant stays as history. `email` is lowercase.
CREATE TABLE room_participants (
  id uuid PRIMARY KEY,
  room_id uuid NOT NULL REFERENCES rooms (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
  email text NOT NULL CHECK (char_length(email) <= 320),
  role text NOT NULL CHECK (char_length(role) BETWEEN 1 AND 40),
  created_at timestamptz NOT NULL,
  removed_at timestamptz,
  -- When the room's link was last mailed to the participant. It stays after removal, for the rate limits.
  invited_at timestamptz
);
CREATE UNIQUE INDEX room_participants_present ON room_participants (room_id, email) WHERE removed_at IS NULL;

-- Chains of seal certificates, as PEM with the seal's own first: evidence stays whole when the key changes.
CREATE TABLE seal_chains (
  sha256 text PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  pem text NOT NULL,
  first_used_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  -- The certificate does not count from this instant on; the reason has its name of RFC 5280. The MAC covers both.
  retired_at timestamptz,
  retirement_reason text,
  CHECK (num_nulls(retired_at, retirement_reason) IN (0, 2))
);

-- One proof passport per sealed document. Written once.
CREATE TABLE passports (
  id uuid PRIMARY KEY,
  verify_code text NOT NULL UNIQUE CHECK (verify_code ~ '^[a-z2-7]{26}$'),
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  doc_sha256 text NOT NULL CHECK (doc_sha256 ~ '^[0-9a-f]{64}$'),
  sealed_sha256 text NOT NULL CHECK (sealed_sha256 ~ '^[0-9a-f]{64}$'),
  seal_chain text NOT NULL REFERENCES seal_chains (sha256),
  -- A key id (4 bytes) and a MAC (32 bytes) over what the row says; so is each `row_mac`. Its key is not in the database. Rows of the
  -- first releases had the MAC alone.
  row_mac bytea NOT NULL CHECK (length(row_mac) IN (32, 36)),
  blob_key text,
  rfc3161_token bytea,
  rfc3161_authority text,
  rfc3161_at timestamptz,
  created_at timestamptz NOT NULL,
  -- Length of the stored file, for the firm's quota; null for old files. It is not evidence.
  bytes int,
  document_name bytea,
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
  row_mac bytea CHECK (length(row_mac) = 36),
  CHECK ((status = 'confirmed') = (block_height IS NOT NULL)),
  CHECK ((status = 'pending') = (next_look_at IS NOT NULL))
);
CREATE INDEX passport_anchors_due ON passport_anchors (next_look_at) WHERE status = 'pending';

-- Work that is done after its cause commits: queued in the same transaction, claimed by any free node. A claimed job is due again when
-- its lease ends, so that other nodes claim the jobs of a killed one.
CREATE TABLE jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue text NOT NULL,
  payload jsonb NOT NULL,
  due_at timestamptz NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  failed_at timestamptz,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX jobs_due ON jobs (queue, due_at, id) WHERE failed_at IS NULL;
CREATE INDEX jobs_failed ON jobs (failed_at) WHERE failed_at IS NOT NULL;

-- The milestones of an order; append-only.
CREATE TABLE workflow_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  name text NOT NULL,
  occurred_at timestamptz NOT NULL
);
CREATE INDEX workflow_events_of_order ON workflow_events (order_id, name, occurred_at);
CREATE INDEX workflow_events_paid ON workflow_events (order_id, occurred_at) WHERE name = 'payment.cleared';

-- A checkout session of the processor. Its row is written first: the row's id is the idempotency key, so that the processor creates
-- one session however often it is asked. At most one is `minting` or `open` per order.
CREATE TABLE checkout_sessions (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  status text NOT NULL CHECK (status IN ('minting', 'open', 'complete', 'expired', 'failed')),
  amount_cents int NOT NULL,
  currency text NOT NULL,
  session_id text UNIQUE,
  url text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CHECK (status <> 'open' OR (session_id IS NOT NULL AND url IS NOT NULL))
);
CREATE UNIQUE INDEX checkout_sessions_current ON checkout_sessions (order_id) WHERE status IN ('minting', 'open');
-- For the retention plan, which asks when an order's latest checkout ends.
CREATE INDEX checkout_sessions_of_order ON checkout_sessions (order_id);

-- Money that the processor says it holds for an order, whatever became of the order.
CREATE TABLE payments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  payment_intent text,
  session_id text NOT NULL,
  amount_cents bigint NOT NULL,
  currency text NOT NULL,
  simulated boolean NOT NULL,
  received_at timestamptz NOT NULL,
  refunded_at timestamptz,
  UNIQUE (order_id, session_id)
);
CREATE INDEX payments_by_intent ON payments (payment_intent) WHERE payment_intent IS NOT NULL;

-- Each event of the processor once, with its outcome.
CREATE TABLE processor_events (
  event_id text PRIMARY KEY,
  type text NOT NULL,
  order_id bigint REFERENCES orders (id),
  outcome text NOT NULL,
  received_at timestamptz NOT NULL
);
CREATE INDEX processor_events_unapplied ON processor_events (received_at, event_id) WHERE outcome = 'unapplied';

CREATE TABLE shipments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  status text NOT NULL CHECK (status IN ('Shipped', 'Delivered', 'Failed')),
  carrier text NOT NULL,
  tracking_number text NOT NULL,
  shipped_at timestamptz NOT NULL,
  delivered_at timestamptz
);
CREATE INDEX shipments_of_order ON shipments (order_id, id);
CREATE INDEX shipments_delivered ON shipments (order_id) WHERE status = 'Delivered';
CREATE INDEX shipments_by_tracking ON shipments (tracking_number);

CREATE TABLE faxes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  status text NOT NULL CHECK (status IN ('Sent', 'Delivered', 'Failed')),
  fax_to text NOT NULL,
  sent_at timestamptz NOT NULL,
  delivered_at timestamptz
);
CREATE INDEX faxes_of_order ON faxes (order_id, id);
CREATE INDEX faxes_by_number ON faxes (fax_to);

-- Subscriptions. A deleted one stays for the history of its deliveries, without secrets.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  url text NOT NULL CHECK (url ~* '^https://'),
  topics text[] NOT NULL CHECK (cardinality(topics) > 0),
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  -- A run of failures: how many in a row, since when, and when the firm's owners were mailed about it.
  failures int NOT NULL DEFAULT 0,
  failing_since timestamptz,
  alerted_at timestamptz,
  -- When the owners were last mailed about any run of failures: at most once in 24 hours.
  mailed_at timestamptz,
  -- Deliveries up to this `seq` have lost their `exchange`; the latest ones keep it.
  exchanges_dropped_to bigint NOT NULL DEFAULT 0
);
CREATE INDEX webhooks_present ON webhooks (partner_id, environment, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_failing ON webhooks (partner_id, environment) WHERE alerted_at IS NOT NULL AND deleted_at IS NULL;

-- `hash`, the SHA-256 of a secret, is the signing key: encrypted, with the subscription's id as its context. The current secret has no
-- end; earlier ones also sign until theirs.
CREATE TABLE webhook_secrets (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id uuid NOT NULL REFERENCES webhooks (id),
  hash bytea NOT NULL,
  expires_at timestamptz
);
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (webhook_id) WHERE expires_at IS NULL;
CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id, id);
CREATE INDEX webhook_secrets_expiring ON webhook_secrets (expires_at) WHERE expires_at IS NOT NULL;

-- One delivery of one event to one subscription. Until `leased_until` a node is sending it. Each is updated twice: room in its page keeps
-- the first update, the lease, out of the nine indexes (a HOT update).
CREATE TABLE webhook_deliveries (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  event bigint NOT NULL REFERENCES events (id),
  webhook_id uuid NOT NULL REFERENCES webhooks (id),
  partner_id uuid NOT NULL,
  environment text NOT NULL,
  topic text NOT NULL,
  order_code text,
  replayed_from uuid,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts int NOT NULL DEFAULT 0,
  leased_until timestamptz,
  last_status_code int,
  duration_ms int,
  reason text,
  created_at timestamptz NOT NULL,
  completed_at timestamptz,
  -- Request and answer without the sent body: encrypted, with `seq` as its context.
  exchange bytea,
  CHECK ((state = 'pending') = (completed_at IS NULL))
) WITH (fillfactor = 50);
-- A clause of the table takes PostgreSQL 16.
ALTER TABLE webhook_deliveries ALTER COLUMN exchange SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (event, webhook_id) WHERE replayed_from IS NULL;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (webhook_id, seq) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, seq);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (partner_id, environment, seq);
CREATE INDEX webhook_deliveries_by_topic ON webhook_deliveries (partner_id, environment, topic, seq);
CREATE INDEX webhook_deliveries_by_order ON webhook_deliveries (partner_id, environment, order_code, seq)
  WHERE order_code IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (partner_id, environment, seq) WHERE state = 'failed';

-- The versions of a room's closing passport, written once. `manifest` is the canonical JSON (ASCII) that was hashed. A foreign key
-- points at the hash of the version before, so that the chain has no gap.
CREATE TABLE closing_passports (
  room_id uuid NOT NULL REFERENCES rooms (id),
  version int NOT NULL CHECK (version BETWEEN 1 AND 20),
  verify_code text NOT NULL UNIQUE CHECK (verify_code ~ '^[a-z2-7]{26}$'),
  manifest text NOT NULL,
  manifest_sha256 text NOT NULL CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  prev_version int GENERATED ALWAYS AS (NULLIF(version, 1) - 1) STORED,
  prev_manifest_sha256 text,
  sealed_sha256 text NOT NULL CHECK (sealed_sha256 ~ '^[0-9a-f]{64}$'),
  seal_chain text NOT NULL REFERENCES seal_chains (sha256),
  blob_key text NOT NULL,
  created_at timestamptz NOT NULL,
  row_mac bytea CHECK (length(row_mac) = 36),
  bytes int,
  PRIMARY KEY (room_id, version),
  UNIQUE (room_id, version, manifest_sha256),
  CHECK ((version = 1) = (prev_manifest_sha256 IS NULL)),
  CONSTRAINT closing_passports_chain FOREIGN KEY (room_id, prev_version, prev_manifest_sha256)
    REFERENCES closing_passports (room_id, version, manifest_sha256)
);
CREATE INDEX closing_passports_by_blob ON closing_passports (blob_key);

-- An execution waits for a decision (its callback's, or the operator's) or for `expires_at`, and ends once. `arguments` are returned
-- with the outcome. Only the hash of the callback's token is stored.
CREATE TABLE playbook_executions (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  playbook text NOT NULL,
  arguments jsonb NOT NULL,
  callback_sha256 bytea NOT NULL UNIQUE CHECK (length(callback_sha256) = 32),
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  outcome text,
  completed_at timestamptz,
  -- `callback`, `operator`, or `system` after `expires_at`.
  ended_by text,
  CHECK ((outcome IS NULL) = (completed_at IS NULL)),
  CHECK ((outcome IS NULL) = (ended_by IS NULL))
);
CREATE INDEX playbook_executions_waiting ON playbook_executions (expires_at, id) WHERE outcome IS NULL;
CREATE INDEX playbook_executions_newest ON playbook_executions (started_at DESC, id DESC);
CREATE INDEX playbook_executions_ended ON playbook_executions (completed_at DESC, id DESC) WHERE outcome IS NOT NULL;

-- Requests for partner access as they were sent. `reasons` are the findings of the screening, for the operator alone. `sealed_key` has
-- the issued key, encrypted, until it is mailed.
CREATE TABLE access_requests (
  id uuid PRIMARY KEY,
  firm_name text NOT NULL,
  contact_name text NOT NULL,
  work_email text NOT NULL,
  role text,
  expected_volume text,
  use_case text,
  status text NOT NULL CHECK (status IN ('issued', 'pending', 'declined')),
  reasons text[] NOT NULL,
  partner_id uuid REFERENCES partners (id),
  sealed_key bytea,
  created_at timestamptz NOT NULL,
  decided_at timestamptz,
  mailed_at timestamptz,
  -- When the address was mailed that it gets no key.
  told_at timestamptz,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (status = 'issued' OR (partner_id IS NULL AND sealed_key IS NULL))
);
CREATE UNIQUE INDEX access_requests_one_key ON access_requests (lower(work_email)) WHERE status = 'issued';
CREATE INDEX access_requests_pending ON access_requests (created_at, id) WHERE status = 'pending';
CREATE INDEX access_requests_decided ON access_requests (decided_at DESC, id DESC) WHERE status <> 'pending';
CREATE INDEX access_requests_of_domain ON access_requests (mail_domain(work_email)) WHERE status = 'issued';
CREATE INDEX access_requests_of_address ON access_requests (lower(work_email));

-- A person belongs to one firm, and is linked once, by a key of the firm.
CREATE TABLE members (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  partner_id uuid NOT NULL REFERENCES partners (id),
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  -- The key that was shown: if it was stolen, so was the membership.
  key_id uuid REFERENCES partner_keys (id),
  linked_at timestamptz NOT NULL,
  -- Whether the member may work in live, where the firm has live. It comes from a live key (`live_key_id`), from an owner who has it,
  -- or from the operator.
  live_access boolean NOT NULL DEFAULT false,
  live_key_id uuid REFERENCES partner_keys (id)
);
CREATE INDEX members_of_partner ON members (partner_id, linked_at);

-- Links that were mailed and not used yet; using one deletes it. The token is derived from `id` when it is mailed and is not stored.
-- `browser_sha256` is of the cookie of the browser that asked. A link without address and browser is the operator's, from the command
-- line.
CREATE TABLE sign_in_links (
  id uuid PRIMARY KEY,
  token_sha256 bytea NOT NULL CHECK (length(token_sha256) = 32),
  browser_sha256 bytea CHECK (length(browser_sha256) = 32),
  -- The network that asked, for the limit of open links per network and address.
  network_sha256 bytea CHECK (length(network_sha256) = 32),
  email text,
  return_to text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- An address is mailed a limited number of links. A browser that asks beyond it gets a row that was not mailed, with the token of a
  -- mailed one, so that the mailed link works there, too. `proven`: the browser had signed in with this address before.
  mailed boolean NOT NULL DEFAULT true,
  proven boolean NOT NULL DEFAULT false,
  CHECK ((email IS NULL) = (browser_sha256 IS NULL)),
  CONSTRAINT sign_in_links_once UNIQUE NULLS NOT DISTINCT (token_sha256, browser_sha256)
);
CREATE INDEX sign_in_links_of_email ON sign_in_links (email, network_sha256, expires_at);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

-- Ending a session deletes it. Without a user it is the operator's.
CREATE TABLE sessions (
  id uuid PRIMARY KEY,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  user_id uuid REFERENCES users (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  device text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When the person last proved to be the session's own: by signing in, or by a confirmation.
  confirmed_at timestamptz NOT NULL,
  -- `factor_due`: a mailed link began the session, and it opens nothing before the second factor is shown. `passkey_at`: when a passkey
  -- was last shown.
  factor_due boolean NOT NULL DEFAULT false,
  passkey_at timestamptz,
  -- For the console; `environment` is for the dashboard.
  console_environment text NOT NULL DEFAULT 'live' CHECK (console_environment IN ('live', 'test'))
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at DESC);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE row_mac_backfill (
  done_at timestamptz NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36),
  filled text NOT NULL DEFAULT 'evidence'
);

-- The code that was last mailed for a session. It is derived from `code_id` when it is mailed and when it is typed, and is not stored.
-- `wrong` counts wrong attempts over all codes.
CREATE TABLE confirmation_codes (
  session_id uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  code_id uuid NOT NULL UNIQUE,
  wrong smallint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);

-- The list of rights (`append-only.json`) that the service's own role was granted last, where that role exists.
CREATE TABLE service_rights (
  sha256 text NOT NULL,
  granted_at timestamptz NOT NULL DEFAULT now()
);

-- Passkeys (WebAuthn level 3), a second factor.
CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users (id),
  -- Base64url, as browsers send it: at most 1,023 bytes.
  credential_id text NOT NULL UNIQUE CHECK (char_length(credential_id) BETWEEN 1 AND 1364),
  -- COSE_Key (RFC 9052, section 7).
  public_key bytea NOT NULL,
  -- The authenticator's signature counter; 0 for authenticators without one.
  counter bigint NOT NULL CHECK (counter >= 0),
  backup_eligible boolean NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_of_user ON passkeys (user_id, created_at);

-- Hashes of 120 random bits; a used one is deleted.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL REFERENCES users (id),
  code_sha256 bytea NOT NULL CHECK (length(code_sha256) = 32),
  PRIMARY KEY (user_id, code_sha256)
);

-- The next challenge for a session's authenticator; reading it deletes it.
CREATE TABLE passkey_challenges (
  session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('add', 'show')),
  challenge text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (session_id, purpose)
);

-- Marks of the blobs that the retention plan deletes. Rows that name such a blob stay: their hashes, times and MACs are evidence. A mark
-- is written before the blob is removed. A mark whose MAC does not hold removes nothing.
CREATE TABLE deleted_blobs (
  blob_key text PRIMARY KEY,
  rule text NOT NULL,
  deleted_at timestamptz NOT NULL,
  row_mac bytea NOT NULL CHECK (length(row_mac) = 36)
);

-- Ids of the keys of SECRETS_KEY that data may need: the service refuses to start without one of them. `secrets rotate` removes a key
-- that no data needs.
CREATE TABLE secrets_keys (
  key_id text PRIMARY KEY CHECK (key_id ~ '^[0-9a-f]{8}$'),
  first_used_at timestamptz NOT NULL
);

-- The signing of an order's document. An order that is issued again after a refusal or an expiry has a further envelope.
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
  -- When the signers whose turn it is are reminded next.
  remind_at timestamptz,
  outcome text CHECK (outcome IN ('Completed', 'Declined', 'Expired', 'Voided')),
  ended_at timestamptz CHECK ((ended_at IS NULL) = (outcome IS NULL)),
  UNIQUE (order_id, attempt)
);
CREATE UNIQUE INDEX envelopes_open ON envelopes (order_id) WHERE ended_at IS NULL;
CREATE INDEX envelopes_due ON envelopes (least(expires_at, remind_at)) WHERE ended_at IS NULL;

-- Links and sessions are credentials: only their hashes are stored. The token of a link is derived from `link_id` when it is mailed.
CREATE TABLE envelope_signers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  n int NOT NULL CHECK (n BETWEEN 1 AND 10),
  name text NOT NULL,
  email text NOT NULL,
  language text NOT NULL CHECK (language IN ('en', 'es')),
  -- Signers of the lowest number sign first, in any order.
  routing int NOT NULL,
  auth text NOT NULL CONSTRAINT envelope_signers_auth_check
    CHECK (auth IN ('link', 'mail_code', 'access_code', 'text_code') AND (auth <> 'text_code' OR phone IS NOT NULL)),
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
  -- The text that the signer consented to: `{version, language, textSha256, at}`.
  consent jsonb,
  signed_at timestamptz,
  -- The person whom the signer proposes instead: `{name, email, at}`.
  proposal jsonb,
  -- When somebody last had the signer reminded.
  reminded_at timestamptz,
  -- For codes by text message.
  phone text,
  UNIQUE (envelope_id, n)
);
CREATE INDEX envelope_signers_by_email ON envelope_signers (lower(email));

-- The revisions that were appended to the original, from 1. Each tail is a document of its own; the file is the original and all tails,
-- so that each state of it is a prefix of the next.
CREATE TABLE envelope_revisions (
  envelope_id bigint NOT NULL REFERENCES envelopes (id),
  number int NOT NULL CHECK (number >= 1),
  document_id bigint NOT NULL UNIQUE REFERENCES documents (id),
  -- The signer whose act it is; null for the preparation.
  signer int,
  -- Of the whole file, including this revision.
  bytes int NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (envelope_id, number),
  CHECK ((number = 1) = (signer IS NULL))
);
CREATE UNIQUE INDEX envelope_revisions_one_act ON envelope_revisions (envelope_id, signer);

-- The trail: each record (canonical JSON) contains the hash of the one before.
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

-- Acts that wait for a signature in the signer's browser: at most ten minutes, and one for each signer.
CREATE TABLE prepared_acts (
  signer_id bigint PRIMARY KEY REFERENCES envelope_signers (id),
  -- `json` keeps the text: a record is hashed as it was written.
  kept json NOT NULL,
  tail bytea NOT NULL,
  signed_attrs bytea NOT NULL,
  chain bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX prepared_acts_oldest ON prepared_acts (created_at);

-- Work for people. A task is opened in the transaction that causes it. It ends when a person has done it, or when it is no longer
-- needed. `subject` names what a task without an order is about.
CREATE TABLE tasks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  order_id bigint REFERENCES orders (id),
  subject text NOT NULL DEFAULT '',
  reason text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'claimed', 'paused', 'done', 'dropped')),
  claimed_by text,
  claimed_at timestamptz,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  ended_by text,
  outcome text,
  CHECK ((state = 'claimed') <= (claimed_by IS NOT NULL AND claimed_at IS NOT NULL)),
  CHECK ((state IN ('done', 'dropped')) = (ended_at IS NOT NULL)),
  CHECK (num_nulls(ended_at, ended_by) IN (0, 2))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX tasks_one_open ON tasks (kind, order_id, subject) NULLS NOT DISTINCT WHERE state IN ('open', 'claimed');
CREATE INDEX tasks_due ON tasks (environment, kind, due_at, id) WHERE state IN ('open', 'claimed');
CREATE INDEX tasks_claimed ON tasks (claimed_by, environment, due_at, id) WHERE state = 'claimed';
CREATE INDEX tasks_of_order ON tasks (order_id, id) WHERE order_id IS NOT NULL;

CREATE TABLE order_notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  author text NOT NULL,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 4000),
  created_at timestamptz NOT NULL
);
CREATE INDEX order_notes_of_order ON order_notes (order_id, id);

-- People who run the service, in the console. They sign in as all `users` do. The row of a person who left stays: it says who did what.
CREATE TABLE operators (
  user_id uuid PRIMARY KEY REFERENCES users (id),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  roles text[] NOT NULL CHECK (
    cardinality(roles) > 0 AND roles <@ ARRAY['agent', 'notary', 'shipper', 'approver', 'admin', 'auditor']
  ),
  active boolean NOT NULL DEFAULT true,
  added_at timestamptz NOT NULL
);

-- A refund is asked for by one operator and approved by another; `solo` where the service is set up for a single person, who then
-- approves an hour later.
CREATE TABLE refund_requests (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  -- The money that was held for the order at the time of the request.
  amount_cents bigint NOT NULL CHECK (amount_cents >= 0),
  requested_by uuid NOT NULL REFERENCES operators (user_id),
  requested_at timestamptz NOT NULL,
  -- `closed`: the order was refunded in another way.
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'approved', 'refused', 'withdrawn', 'closed')),
  decided_by uuid REFERENCES operators (user_id),
  decided_at timestamptz,
  solo boolean NOT NULL DEFAULT false,
  note text CHECK (char_length(note) BETWEEN 1 AND 500),
  -- The payments that are refunded, each in its currency; `amount_cents` adds them up regardless of it.
  payments jsonb NOT NULL DEFAULT '[]',
  CHECK ((state = 'requested') = (decided_at IS NULL)),
  CONSTRAINT refund_decided_by_another CHECK (
    state NOT IN ('approved', 'refused')
    OR (decided_by IS NOT NULL AND (
      decided_by <> requested_by
      OR (state = 'approved' AND solo AND decided_at >= requested_at + interval '60 minutes')))
  )
);
CREATE UNIQUE INDEX refund_requests_one_open ON refund_requests (order_id) WHERE state = 'requested';
CREATE INDEX refund_requests_of_order ON refund_requests (order_id, requested_at);
CREATE INDEX refund_requests_ended ON refund_requests (decided_at DESC) WHERE state <> 'requested';

-- The business days on whose morning operators were mailed their open tasks.
CREATE TABLE task_mornings (day date PRIMARY KEY);

-- Operators who are commissioned notaries. Whether dates block one is computed when it is asked.
CREATE TABLE notaries (
  id uuid PRIMARY KEY,
  operator_id uuid NOT NULL UNIQUE REFERENCES operators (user_id),
  commission_name text NOT NULL,
  state text NOT NULL CHECK (state ~ '^[A-Z]{2}$'),
  county text NOT NULL,
  commission_number text NOT NULL,
  -- The last valid day, as are all dates named `expires`.
  commission_expires date NOT NULL,
  ron_registration text,
  ron_expires date CHECK ((ron_expires IS NULL) = (ron_registration IS NULL)),
  tool text,
  -- PEM of the notary's signing certificate, and of its issuers.
  certificate text,
  certificate_chain text CHECK (certificate_chain IS NULL OR certificate IS NOT NULL),
  status text NOT NULL CHECK (status IN ('active', 'suspended')),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The first valid days of commission and registration, where known.
  commission_starts date CHECK (commission_starts <= commission_expires),
  ron_starts date CHECK (ron_starts IS NULL OR ron_registration IS NOT NULL AND ron_starts <= ron_expires)
);

-- Documents that prove a notary's commission.
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

-- The mails about an expiry that were sent: each of the two once.
CREATE TABLE notary_expiry_mails (
  notary_id uuid NOT NULL REFERENCES notaries (id),
  what text NOT NULL CHECK (what IN ('commission', 'registration', 'certificate')),
  expires_on date NOT NULL,
  stage text NOT NULL CHECK (stage IN ('soon', 'expired')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (notary_id, what, expires_on, stage)
);

-- A notary's draft for an order whose task the notary claimed.
CREATE TABLE notary_drafts (
  task_id bigint NOT NULL REFERENCES tasks (id),
  notary_id uuid NOT NULL REFERENCES notaries (id),
  act jsonb,
  appointment_url text,
  appointment_at timestamptz,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (task_id, notary_id)
);

-- Journals: each record (canonical JSON) contains the hash of the same notary's record before it.
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

-- What an approver says became of money that moved no order.
CREATE TABLE payment_resolutions (
  event_id text PRIMARY KEY REFERENCES processor_events (event_id),
  resolved_by uuid NOT NULL REFERENCES operators (user_id),
  resolved_at timestamptz NOT NULL,
  note text NOT NULL CHECK (char_length(note) BETWEEN 1 AND 500)
);

-- Acts of a provider that must happen once: the row is written before, and ends when the answer is known. `unknown`: a person decides.
-- Payload and result are encrypted. The retention plan deletes them; their hashes stay.
CREATE TABLE provider_calls (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  act text NOT NULL,
  provider text NOT NULL CHECK (provider IN ('easypost', 'lob', 'telnyx')),
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  state text NOT NULL DEFAULT 'intended'
    CHECK (state IN ('intended', 'begun', 'unknown', 'done', 'failed', 'withdrawn')),
  -- It is not part of the order's flow: people's moves do not wait for it.
  is_beside boolean NOT NULL,
  payload bytea,
  result bytea,
  -- How often it was tried, and how often it was looked up since.
  tries int NOT NULL DEFAULT 0,
  looks int NOT NULL DEFAULT 0,
  intended_at timestamptz NOT NULL,
  begun_at timestamptz,
  look_at timestamptz,
  -- Since when the provider has not accepted it; null once it did.
  away_since timestamptz,
  ended_at timestamptz,
  ended_by text,
  code text,
  why text,
  request_sha256 text,
  answer_sha256 text,
  -- Tries that failed here or had an unknown outcome.
  failures int NOT NULL DEFAULT 0,
  UNIQUE (act, order_id, attempt),
  CHECK ((state IN ('begun', 'unknown')) <= (begun_at IS NOT NULL)),
  CHECK ((state IN ('done', 'failed', 'withdrawn')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX provider_calls_of_order ON provider_calls (order_id, id);
CREATE INDEX provider_calls_open ON provider_calls (id) WHERE ended_at IS NULL;
CREATE INDEX provider_calls_ended ON provider_calls (ended_at) WHERE payload IS NOT NULL;

-- Signed events as they came: `content` (bytes and headers) is encrypted, and the retention plan deletes it.
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

-- Letters that Lob accepted: how each is printed and mailed, and when each step first happened.
CREATE TABLE letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  -- Lob's id.
  letter_id text NOT NULL UNIQUE,
  mail_class text NOT NULL CHECK (mail_class IN ('certified', 'certified_return_receipt', 'standard')),
  doc_sha256 text NOT NULL,
  pages int NOT NULL,
  double_sided boolean NOT NULL,
  tracking_number text,
  expected_delivery date,
  -- It can be canceled until then.
  send_at timestamptz,
  accepted_at timestamptz NOT NULL,
  -- When the service asked to cancel it.
  recalled_at timestamptz,
  mailed_at timestamptz,
  rerouted_at timestamptz,
  trouble_at timestamptz,
  delivered_at timestamptz,
  returned_at timestamptz,
  failed_at timestamptz,
  cancelled_at timestamptz,
  UNIQUE (order_id, attempt)
);
CREATE INDEX letters_by_tracking ON letters (tracking_number);

-- Codes that were texted in the last day, for the daily limits of a number, an order, a firm and the service.
CREATE TABLE signing_texts (
  phone text NOT NULL,
  sent_at timestamptz NOT NULL,
  order_id bigint NOT NULL REFERENCES orders (id),
  partner_id uuid NOT NULL REFERENCES partners (id)
);
CREATE INDEX signing_texts_sent_at ON signing_texts (sent_at);

-- Carriers' labels of live orders. `number` counts the labels of an order; `attempt` counts how often it was to be shipped.
CREATE TABLE labels (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  number int NOT NULL CHECK (number > 0),
  attempt int NOT NULL CHECK (attempt > 0),
  -- Prepared by free requests, then bought by an act. `withdrawn`: the order moved on before.
  state text NOT NULL DEFAULT 'preparing' CHECK (state IN ('preparing', 'buying', 'bought', 'not_bought', 'withdrawn')),
  -- The operator who had it bought; null where nobody was asked.
  ordered_by text,
  -- The highest price to buy it for, US cents; null where no postage was quoted.
  most_cents int,
  shipment_id text,
  rate_id text,
  carrier text,
  service text,
  cents int,
  tracking_number text,
  tracker_id text,
  label_url text,
  -- Of the PDF, a document of the order.
  file_sha256 text,
  -- Why it was not bought.
  why text,
  -- Every state that the carrier ever reported.
  seen text[] NOT NULL DEFAULT '{}',
  signed_by text,
  refund_state text CHECK (refund_state IN ('intended', 'submitted', 'refunded', 'rejected', 'not_applicable')),
  created_at timestamptz NOT NULL,
  bought_at timestamptz,
  -- When the service next asks about the parcel, or about the refund of its postage.
  ask_at timestamptz,
  UNIQUE (order_id, number),
  CHECK ((state = 'bought') = (bought_at IS NOT NULL)),
  CHECK (state <> 'bought' OR num_nulls(shipment_id, carrier, service, cents, tracking_number) = 0)
);
CREATE UNIQUE INDEX labels_of_tracker ON labels (tracker_id) WHERE tracker_id IS NOT NULL;
-- The retention plan deletes `signed_by` and `label_url` with the other records of providers.
CREATE INDEX labels_to_sweep ON labels (bought_at) WHERE num_nonnulls(signed_by, label_url) > 0;
CREATE INDEX labels_by_tracking ON labels (tracking_number);

-- Attempts to fax an order's document by Telnyx; `faxes` has what the order shows.
CREATE TABLE fax_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  state text NOT NULL CHECK (state IN ('waiting', 'withdrawn', 'refused', 'queued', 'media.processed', 'originated',
    'sending', 'failed', 'delivered')),
  -- Temporary failures before it, since a person last had it sent.
  retries int NOT NULL CHECK (retries >= 0),
  due_at timestamptz NOT NULL,
  fax_to text NOT NULL,
  fax_from text NOT NULL,
  client_state text NOT NULL UNIQUE,
  fax_id text UNIQUE,
  -- Of the order's document, and of the file with the cover sheet.
  document_sha256 text,
  sent_sha256 text,
  sent_pages int,
  reason text,
  pages int,
  seconds int,
  is_canceled boolean NOT NULL DEFAULT false,
  -- Whether the order followed its failure.
  is_settled boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  event_id bigint REFERENCES provider_events (id),
  receipt_at timestamptz,
  UNIQUE (order_id, attempt)
) WITH (fillfactor = 80);
-- The retention plan empties `fax_to` with the other records of providers.
CREATE INDEX fax_attempts_to_sweep ON fax_attempts (created_at) WHERE fax_to <> '';

CREATE TABLE receipts (
  order_id bigint NOT NULL REFERENCES orders (id),
  kind text NOT NULL CHECK (kind IN ('delivery_receipt', 'mail_receipt', 'fax_certificate')),
  -- Id of the label, the letter or the fax.
  subject bigint NOT NULL,
  sha256 text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, kind, subject)
);

-- Each event's place among its firm's events of an environment. The row is written with the event; the place is given once, before the
-- event is first sent or read. Old events have no row.
CREATE TABLE event_chain (
  event bigint PRIMARY KEY REFERENCES events (id),
  partner_id uuid NOT NULL,
  environment text NOT NULL,
  position bigint CHECK (position > 0),
  head bytea CHECK (octet_length(head) = 32),
  CHECK ((position IS NULL) = (head IS NULL))
);
CREATE UNIQUE INDEX event_chain_places ON event_chain (partner_id, environment, position) WHERE position IS NOT NULL;
CREATE INDEX event_chain_waiting ON event_chain (partner_id, environment, event) WHERE position IS NULL;

-- The Ed25519 key that signs a firm's deliveries in an environment: PKCS #8, encrypted, with `partner_id:environment` as its context.
CREATE TABLE webhook_keys (
  partner_id uuid NOT NULL REFERENCES partners (id),
  environment text NOT NULL CHECK (environment IN ('live', 'test')),
  private_key bytea NOT NULL,
  PRIMARY KEY (partner_id, environment)
);

-- Advances of partners' test clocks. The transaction that adds a row also moves the due times of the partner's test objects. Periods that
-- begin at a fixed time (how long documents are kept) add up the advances since. `settled_at`: all that came due by the advance has
-- happened. `reset_at`: the clock shows real time again.
CREATE TABLE test_clock_advances (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  seconds bigint NOT NULL CHECK (seconds > 0),
  advanced_at timestamptz NOT NULL,
  settled_at timestamptz,
  reset_at timestamptz,
  -- The sum up to this advance, in the order of (advanced_at, id): two rows give the seconds between them. The last row before a reset
  -- counts for it.
  total_seconds bigint NOT NULL
);
CREATE INDEX test_clock_advances_of_partner ON test_clock_advances (partner_id, advanced_at, id) INCLUDE (total_seconds);
CREATE INDEX test_clock_advances_reset ON test_clock_advances (partner_id, advanced_at, id) WHERE reset_at IS NOT NULL;
CREATE INDEX test_clock_advances_unsettled ON test_clock_advances (partner_id, id) WHERE settled_at IS NULL;

-- Invitations to a firm, mailed to an address. The token in the link is derived from `id` when it is mailed, and is not stored. A row that
-- has ended stays for a while, for the daily limit of mails.
CREATE TABLE invitations (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  email text NOT NULL CHECK (char_length(email) <= 254 AND email = lower(email)),
  role text NOT NULL CHECK (role IN ('owner', 'member')),
  live_access boolean NOT NULL,
  token_sha256 bytea NOT NULL UNIQUE CHECK (length(token_sha256) = 32),
  invited_by uuid NOT NULL REFERENCES users (id),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('accepted', 'withdrawn', 'replaced')),
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX invitations_pending ON invitations (partner_id, email) WHERE ended_at IS NULL;
CREATE INDEX invitations_of_partner ON invitations (partner_id, created_at);
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- Logos that firms uploaded, encoded again as PNG; each under its hash, so that an address always shows the same picture.
CREATE TABLE firm_logos (
  partner_id uuid NOT NULL REFERENCES partners (id),
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  png bytea NOT NULL CHECK (octet_length(png) <= 262144),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, sha256)
);
CREATE INDEX firm_logos_by_hash ON firm_logos (sha256);

-- Notes of members for their own firm, encrypted; deleted with the name of the order's document.
CREATE TABLE firm_notes (
  id uuid PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  author text NOT NULL,
  text bytea NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX firm_notes_of_order ON firm_notes (order_id, created_at);

-- Mails that were sent to an order's client.
CREATE TABLE client_mails (
  order_id bigint NOT NULL REFERENCES orders (id),
  moment text NOT NULL,
  caused_at timestamptz NOT NULL,
  sent_at timestamptz NOT NULL,
  PRIMARY KEY (order_id, moment, caused_at)
);

-- Proof certificates as they were first sealed: later requests get the same bytes. A blob decrypts only as the certificate of its row,
-- so the row needs no MAC.
CREATE TABLE proof_certificates (
  blob_key text PRIMARY KEY,
  passport_id uuid NOT NULL REFERENCES passports (id),
  -- Whether it is the owner's copy, which names the firm.
  names_firm boolean NOT NULL,
  -- Whether it mentions the stored PDF, with which it is deleted.
  document_kept boolean NOT NULL,
  seal_retired boolean NOT NULL,
  sha256 text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL,
  -- A proof certificate has no time-stamp: after the seal's certificate expires or is retired, nothing shows that it was sealed before.
  -- So each certificate of the seal makes its own. Empty for old ones.
  seal_chain text NOT NULL,
  UNIQUE (passport_id, names_firm, document_kept, seal_retired, seal_chain)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION next_view_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.view_version := OLD.view_version + 1;
  RETURN NEW;
END $$;

CREATE TRIGGER rooms_next_view BEFORE UPDATE ON rooms FOR EACH ROW EXECUTE FUNCTION next_view_version();
CREATE TRIGGER partners_next_view BEFORE UPDATE OF name, brand_name, accent_color, logo_url ON partners
  FOR EACH ROW EXECUTE FUNCTION next_view_version();

-- For tables whose rows belong to a room.
CREATE FUNCTION bump_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rooms SET view_version = view_version + 1 WHERE id = NEW.room_id;
  RETURN NULL;
END $$;

CREATE TRIGGER room_participants_bump AFTER INSERT OR UPDATE ON room_participants
  FOR EACH ROW EXECUTE FUNCTION bump_room();

-- Attaching locks the order's row FOR SHARE: so either this function sees the new row of room_orders, or the attachment waits and then
-- shows the change. Rooms are locked in the order of their ids, so that two orders of the same rooms never deadlock.
CREATE FUNCTION bump_rooms_of_order(changed_order bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM orders WHERE id = changed_order FOR NO KEY UPDATE;
  PERFORM FROM rooms WHERE id IN (SELECT room_id FROM room_orders WHERE order_id = changed_order)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE rooms SET view_version = view_version + 1
    WHERE id IN (SELECT room_id FROM room_orders WHERE order_id = changed_order);
END $$;

CREATE FUNCTION bump_rooms_of_changed_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(NEW.id);
  RETURN NULL;
END $$;

-- For tables whose rows belong to an order.
CREATE FUNCTION bump_rooms_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(CASE TG_OP WHEN 'DELETE' THEN OLD.order_id ELSE NEW.order_id END);
  RETURN NULL;
END $$;

CREATE TRIGGER orders_bump_rooms AFTER UPDATE ON orders
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_changed_order();
-- An original comes with its order, which is in no room yet: creating an order costs nothing here.
CREATE TRIGGER documents_bump_rooms AFTER INSERT ON documents
  FOR EACH ROW WHEN (NEW.kind <> 'original') EXECUTE FUNCTION bump_rooms_of_row();
CREATE TRIGGER documents_change_bumps_rooms AFTER UPDATE OR DELETE ON documents
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_row();
-- The other actions that a view shows come with a change of the order or the room.
CREATE TRIGGER audit_log_bump_rooms AFTER INSERT ON audit_log
  FOR EACH ROW WHEN (NEW.action IN ('order.claimed', 'order.cancelled', 'signing_link.issued'))
  EXECUTE FUNCTION bump_rooms_of_row();

CREATE FUNCTION enqueue_job(job_queue text, job_payload jsonb, job_due_at timestamptz DEFAULT now()) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE job_id bigint;
BEGIN
  INSERT INTO jobs (queue, payload, due_at) VALUES (job_queue, job_payload, job_due_at) RETURNING id INTO job_id;
  PERFORM pg_notify('jobs', job_queue);
  RETURN job_id;
END $$;

CREATE TRIGGER workflow_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON workflow_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER shipments_bump_rooms AFTER INSERT OR UPDATE ON shipments
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_row();

-- An event and its deliveries commit together: no delivery is lost or doubled, whatever crashes afterwards.
CREATE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, order_code, created_at)
  SELECT NEW.id, id, partner_id, environment, NEW.topic,
    CASE WHEN NEW.topic IN ('order.created', 'payment.cleared', 'signature.completed', 'shipment.delivered',
      'room.order_attached') THEN NEW.subject END,
    NEW.occurred_at
  FROM webhooks
  WHERE partner_id = NEW.partner_id AND environment = NEW.environment AND deleted_at IS NULL AND active
    AND NEW.topic = ANY (topics);
  RETURN NULL;
END $$;

CREATE TRIGGER events_queue_deliveries AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION queue_deliveries();
-- The view of a room names its latest version.
CREATE TRIGGER closing_passports_bump AFTER INSERT ON closing_passports FOR EACH ROW EXECUTE FUNCTION bump_room();
CREATE TRIGGER closing_passports_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF room_id, version, verify_code,
  manifest, manifest_sha256, prev_manifest_sha256, sealed_sha256, seal_chain, blob_key, created_at ON closing_passports
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF id, occurred_at, action, actor, partner_id,
  order_id, from_status, to_status, detail, room_id ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_chained_once BEFORE UPDATE OF chain_position, chain_sha256 ON audit_log
  FOR EACH ROW WHEN (OLD.chain_position IS NOT NULL) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deleted_blobs_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF blob_key, rule, deleted_at ON deleted_blobs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER envelope_revisions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON envelope_revisions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER envelope_events_append_only BEFORE DELETE OR TRUNCATE OR UPDATE OF envelope_id, position, record, sha256
  ON envelope_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Rooms show who has signed, but not what links and codes change in the row.
CREATE FUNCTION bump_rooms_of_signer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM bump_rooms_of_order(order_id) FROM envelopes WHERE id = NEW.envelope_id;
  RETURN NULL;
END $$;

CREATE TRIGGER envelope_signers_bump_rooms AFTER INSERT OR UPDATE OF name, email, routing, signed_at ON envelope_signers
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_signer();
CREATE TRIGGER order_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON order_notes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_refund_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.state <> 'requested'
    OR (NEW.id, NEW.order_id, NEW.reason, NEW.amount_cents, NEW.payments, NEW.requested_by, NEW.requested_at)
      IS DISTINCT FROM
      (OLD.id, OLD.order_id, OLD.reason, OLD.amount_cents, OLD.payments, OLD.requested_by, OLD.requested_at)
  THEN RAISE EXCEPTION 'a refund request is decided once, and otherwise stays as it is';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER refund_requests_decided_once BEFORE UPDATE OR DELETE ON refund_requests
  FOR EACH ROW EXECUTE FUNCTION refuse_refund_change();

-- An order that is refunded in another way (the command line, the processor) needs no decision.
CREATE FUNCTION close_refund_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE refund_requests SET state = 'closed', decided_at = NEW.updated_at, note = 'The refund was asked for by another way.'
  WHERE order_id = NEW.id AND state = 'requested';
  UPDATE tasks SET state = 'dropped', ended_at = NEW.updated_at, ended_by = 'system', outcome = 'refunded by another way'
  WHERE order_id = NEW.id AND kind = 'refund_approval' AND state IN ('open', 'claimed');
  RETURN NULL;
END $$;

CREATE TRIGGER orders_close_refund_requests AFTER UPDATE OF status ON orders
  FOR EACH ROW WHEN (NEW.status = 'RefundPending' AND OLD.status <> 'RefundPending') EXECUTE FUNCTION close_refund_requests();
CREATE TRIGGER notary_journal_append_only
  BEFORE DELETE OR TRUNCATE OR UPDATE OF notary_id, position, order_id, record, sha256, corrects
  ON notary_journal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payment_resolutions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_resolutions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION chain_new_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_chain (event, partner_id, environment) SELECT id, partner_id, environment FROM fresh;
  RETURN NULL;
END $$;

CREATE TRIGGER events_chain AFTER INSERT ON events REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION chain_new_events();
CREATE TRIGGER proof_certificates_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON proof_certificates
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
