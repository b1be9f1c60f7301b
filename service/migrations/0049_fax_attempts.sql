-- Attempts to fax an order's document by Telnyx; `faxes` says what an order's own record shows.
CREATE TABLE fax_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  attempt int NOT NULL CHECK (attempt > 0),
  state text NOT NULL CHECK (state IN ('waiting', 'withdrawn', 'refused', 'queued', 'media.processed', 'originated',
    'sending', 'failed', 'delivered')),
  -- Passing failures before it, since a person last had it sent.
  retries int NOT NULL CHECK (retries >= 0),
  due_at timestamptz NOT NULL,
  fax_to text NOT NULL,
  fax_from text NOT NULL,
  client_state text NOT NULL UNIQUE,
  fax_id text UNIQUE,
  -- Of the order's document, and of the file with its cover sheet.
  document_sha256 text,
  sent_sha256 text,
  sent_pages int,
  reason text,
  pages int,
  seconds int,
  is_canceled boolean NOT NULL DEFAULT false,
  -- Whether what follows for the order from its failure was done.
  is_settled boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  ended_at timestamptz,
  event_id bigint REFERENCES provider_events (id),
  receipt_at timestamptz,
  UNIQUE (order_id, attempt)
) WITH (fillfactor = 80);
