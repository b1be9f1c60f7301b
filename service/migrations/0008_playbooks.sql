-- Analytics over a cohort reads the index alone. It takes the place of the one that lists orders newest first, so that an
-- order pays for no index more.
DROP INDEX orders_newest;
CREATE INDEX orders_newest ON orders (partner_id, environment, created_at DESC, id DESC)
  INCLUDE (status, updated_at, sign, notarize, ship, fax, total_cents);
CREATE INDEX documents_sealed ON documents (order_id) WHERE kind IN ('sealed', 'notarized');
CREATE INDEX shipments_delivered ON shipments (order_id) WHERE status = 'Delivered';
CREATE INDEX workflow_events_paid ON workflow_events (order_id, occurred_at) WHERE name = 'payment.cleared';

-- An execution waits as a row: for a decision through its callback or by the operator, or for `expires_at`. It ends once.
-- `arguments` are those that are returned with the outcome. Of the callback's token only the hash is kept.
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
  CHECK ((outcome IS NULL) = (completed_at IS NULL))
);
CREATE INDEX playbook_executions_waiting ON playbook_executions (expires_at, id) WHERE outcome IS NULL;
CREATE INDEX playbook_executions_newest ON playbook_executions (started_at DESC, id DESC);
