-- Work that leaves the house: written in the transaction that causes it, taken by whichever node is free. A job that is
-- being worked on is due again when its lease ends, so that a killed node's jobs are retaken.
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

CREATE FUNCTION enqueue_job(job_queue text, job_payload jsonb, job_due_at timestamptz DEFAULT now()) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE job_id bigint;
BEGIN
  INSERT INTO jobs (queue, payload, due_at) VALUES (job_queue, job_payload, job_due_at) RETURNING id INTO job_id;
  PERFORM pg_notify('jobs', job_queue);
  RETURN job_id;
END $$;

-- The milestones of an order's way, each once; append-only.
CREATE TABLE workflow_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  name text NOT NULL,
  occurred_at timestamptz NOT NULL
);
CREATE INDEX workflow_events_of_order ON workflow_events (order_id, name, occurred_at);
CREATE TRIGGER workflow_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON workflow_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- A checkout session of the processor. Its row is there before the session is: the row's id makes the processor mint one
-- session only, however often it is asked. At most one is `minting` or `open` per order.
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

-- Each event of the processor once, with what came of it.
CREATE TABLE processor_events (
  event_id text PRIMARY KEY,
  type text NOT NULL,
  order_id bigint REFERENCES orders (id),
  outcome text NOT NULL,
  received_at timestamptz NOT NULL
);

-- An answer that is still being made: its twin waits, and takes over when this instant has passed.
ALTER TABLE idempotency_keys ADD COLUMN pending_until timestamptz;

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
CREATE TRIGGER shipments_bump_rooms AFTER INSERT OR UPDATE ON shipments
  FOR EACH ROW EXECUTE FUNCTION bump_rooms_of_row();

CREATE TABLE faxes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  order_id bigint NOT NULL REFERENCES orders (id),
  status text NOT NULL CHECK (status IN ('Sent', 'Delivered', 'Failed')),
  fax_to text NOT NULL,
  sent_at timestamptz NOT NULL,
  delivered_at timestamptz
);
CREATE INDEX faxes_of_order ON faxes (order_id, id);
